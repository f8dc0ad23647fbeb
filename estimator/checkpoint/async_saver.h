// AsyncSaver: a Saver that can write a checkpoint on a thread of its own, while training continues.
#ifndef ESTIMATOR_CHECKPOINT_ASYNC_SAVER_H_
#define ESTIMATOR_CHECKPOINT_ASYNC_SAVER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {

// Writes one checkpoint at a time. Files, their order and the errors are those of Saver. One thread
// may call the methods, except for Wait, which any thread may call.
class AsyncSaver {
 public:
  // `available_memory` is for tests. If empty, ReadAvailableMemory is called.
  explicit AsyncSaver(const SaverOptions& options = {},
                      std::function<std::optional<AvailableMemory>()> available_memory = nullptr);
  ~AsyncSaver();  // Finish; an error is logged
  AsyncSaver(const AsyncSaver&) = delete;
  AsyncSaver& operator=(const AsyncSaver&) = delete;

  using Variables = std::map<std::string, Array>;
  // Called with the prefix and the values when the checkpoint is committed, on the thread that
  // wrote it. Its error is one of the save.
  using Committed = std::function<absl::Status(const std::string& prefix, const Variables&)>;

  // Saver::Save, after the save in progress, if there is one.
  absl::StatusOr<std::string> Save(StringArg directory, int64_t global_step,
                                   const Variables& variables, const SaverExtras& extras = {},
                                   const Committed& committed = nullptr);

  // Copies the values, and returns the prefix while another thread writes the checkpoint. The copy
  // stays allocated for the next save, until Finish.
  // If a save is in progress, the call first waits for it. The first wait of a second or more is
  // logged.
  // If the memory for the copy is not available, or no thread can be started, the call saves as
  // Save does, and the first time a warning says so.
  // `extras.meta_graph.make` is called before this returns, if at all.
  // Errors: those of the save in progress.
  absl::StatusOr<std::string> SaveInBackground(StringArg directory, int64_t global_step,
                                               const Variables& variables,
                                               const SaverExtras& extras = {},
                                               const Committed& committed = nullptr);

  // The error of a background save that has ended. OK while one is in progress. An error is
  // returned once.
  absl::Status Poll();
  // Waits for the save in progress, frees the copy of the values, and returns as Poll does.
  absl::Status Finish();
  // Waits for the save in progress. Its error is left to Poll and Finish. Thread-safe.
  void Wait();

 private:
  absl::StatusOr<std::string> Write(StringArg directory, int64_t global_step,
                                    const Variables& variables, const SaverExtras& extras,
                                    const Committed& committed);
  absl::Status TakeStatus();
  // Copies `variables` to copy_. Errors: RESOURCE_EXHAUSTED without the memory for it.
  absl::Status Copy(const Variables& variables);
  absl::Status Start(std::function<absl::Status()> work);

  Saver saver_;  // used by thread_ while it runs
  const std::function<double()> now_secs_;
  const std::function<std::optional<AvailableMemory>()> available_memory_;
  Variables copy_;      // read by thread_ while it runs
  std::string prefix_;  // of the last background save
  bool told_of_wait_ = false;
  bool warned_of_fallback_ = false;
  std::atomic<bool> in_progress_ = false;
  std::mutex mutex_;
  std::thread thread_;   // guarded by mutex_
  absl::Status status_;  // of the last background save; thread_ writes it
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_ASYNC_SAVER_H_
