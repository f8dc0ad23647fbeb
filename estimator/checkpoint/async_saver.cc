#include "estimator/checkpoint/async_saver.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "estimator/base/out_of_resources.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

bool SameType(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape();
}

void CopyBytes(const Array& from, Array& to) {
  if (from.dtype() == DType::kString) {
    const auto values = from.values<std::string>();
    std::copy(values.begin(), values.end(), to.values<std::string>().begin());
  } else if (from.num_bytes() > 0) {
    std::memcpy(to.raw(), from.raw(), from.num_bytes());
  }
}

// A copy may take this part of the available memory. The rest is for the page cache, which the
// files are written through, and for other programs.
constexpr double kUsablePart = 0.8;

// A shorter wait for the save in progress is not worth a message.
constexpr double kLongWaitSecs = 1;

}  // namespace

AsyncSaver::AsyncSaver(const SaverOptions& options,
                       std::function<std::optional<AvailableMemory>()> available_memory)
    : saver_(options),
      now_secs_(options.now_secs ? options.now_secs : SystemSecs),
      available_memory_(available_memory ? std::move(available_memory)
                                         : [] { return ReadAvailableMemory(); }) {}

AsyncSaver::~AsyncSaver() {
  const absl::Status status = Finish();
  LOG_IF(ERROR, !status.ok()) << status;
}

absl::StatusOr<std::string> AsyncSaver::Write(StringArg directory, int64_t global_step,
                                              const Variables& variables, const SaverExtras& extras,
                                              const Committed& committed) {
  EST_ASSIGN_OR_RETURN(std::string prefix, saver_.Save(directory, global_step, variables, extras));
  if (committed) EST_RETURN_IF_ERROR(committed(prefix, variables));
  return prefix;
}

absl::StatusOr<std::string> AsyncSaver::Save(StringArg directory, int64_t global_step,
                                             const Variables& variables, const SaverExtras& extras,
                                             const Committed& committed) {
  Wait();
  EST_RETURN_IF_ERROR(TakeStatus());
  return Write(directory, global_step, variables, extras, committed);
}

absl::StatusOr<std::string> AsyncSaver::SaveInBackground(StringArg directory, int64_t global_step,
                                                         const Variables& variables,
                                                         const SaverExtras& extras,
                                                         const Committed& committed) {
  const std::string prefix = saver_.Prefix(directory, global_step);
  if (in_progress_) {
    const double start = now_secs_();
    Wait();
    const double waited = now_secs_() - start;
    LOG_IF(INFO, waited >= kLongWaitSecs && !std::exchange(told_of_wait_, true))
        << "Training waited " << HumanDuration(waited) << " to save " << prefix << ", because "
        << prefix_ << " was still being written; raise save_checkpoints_steps or "
        << "save_checkpoints_secs, or use a faster disk";
  }
  // A thread that has finished must still be joined before its status is taken.
  Wait();
  EST_RETURN_IF_ERROR(TakeStatus());
  absl::Status started = Copy(variables);
  if (started.ok()) {
    // The graph may change while it is written, so its bytes are made here.
    SaverExtras own = extras;
    own.meta_graph.make = nullptr;
    if (extras.meta_graph.make != nullptr && !saver_.HasMetaGraph(extras.meta_graph.version)) {
      const auto bytes = std::make_shared<std::string>(extras.meta_graph.make());
      own.meta_graph.make = [bytes] { return std::move(*bytes); };
    }
    started =
        Start([this, folder = std::string(directory), global_step, own = std::move(own),
               committed] { return Write(folder, global_step, copy_, own, committed).status(); });
  }
  if (started.ok()) {
    prefix_ = prefix;
    return prefix;
  }
  LOG_IF(WARNING, !std::exchange(warned_of_fallback_, true))
      << "Training waits while checkpoints are written: " << started.message();
  copy_.clear();
  return Write(directory, global_step, variables, extras, committed);
}

absl::Status AsyncSaver::Copy(const Variables& variables) {
  // The memory of the last copy is used again. That of variables that are gone is freed first.
  size_t new_bytes = 0;
  Variables next;
  for (const auto& [name, value] : variables) {
    const auto found = copy_.find(name);
    if (found != copy_.end() && SameType(found->second, value)) {
      next[name] = std::move(found->second);
    } else {
      new_bytes += value.num_bytes();
    }
  }
  copy_ = std::move(next);
  if (new_bytes > 0) {
    const std::optional<AvailableMemory> available = available_memory_();
    const double usable =
        available ? kUsablePart * static_cast<double>(std::max(available->bytes, int64_t{0})) : 0;
    if (available && static_cast<double>(new_bytes) > usable) {
      return ResourceExhausted(
          "a copy of the variables needs ", HumanBytes(static_cast<int64_t>(new_bytes)), ", and ",
          HumanBytes(available->bytes), " of ", available->bound, " are available");
    }
  }
  // Other programs may have taken the memory that was available a moment ago.
  try {
    for (const auto& [name, value] : variables) {
      Array& copy = copy_[name];
      if (SameType(copy, value)) {
        CopyBytes(value, copy);
      } else {
        copy = value.Clone();
      }
    }
  } catch (const std::exception& thrown) {
    const absl::Status status = OutOfResourcesError(thrown);
    if (status.ok()) throw;
    return status;
  }
  return absl::OkStatus();
}

absl::Status AsyncSaver::Start(std::function<absl::Status()> work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Before the thread starts, because the thread sets it to false.
  in_progress_ = true;
  try {
    thread_ = std::thread([this, work = std::move(work)] {
      // An exception that leaves a thread ends the program.
      try {
        status_ = work();
      } catch (const std::exception& thrown) {
        status_ = OutOfResourcesError(thrown);
        if (status_.ok()) throw;
      }
      in_progress_ = false;
    });
  } catch (const std::exception& thrown) {
    in_progress_ = false;
    const absl::Status status = OutOfResourcesError(thrown);
    if (status.ok()) throw;
    return status;
  }
  return absl::OkStatus();
}

void AsyncSaver::Wait() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (thread_.joinable()) thread_.join();
}

absl::Status AsyncSaver::TakeStatus() { return std::exchange(status_, absl::OkStatus()); }

absl::Status AsyncSaver::Poll() {
  if (in_progress_) return absl::OkStatus();
  Wait();
  return TakeStatus();
}

absl::Status AsyncSaver::Finish() {
  Wait();
  copy_.clear();
  return TakeStatus();
}

}  // namespace estimator
