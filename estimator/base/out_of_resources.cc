#include "estimator/base/out_of_resources.h"

#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

constexpr size_t kReserveBytes = 64 << 10;

int exit_code_at_terminate = 1;
std::terminate_handler next_handler = nullptr;
std::atomic<bool> exit_is_expected = false;
// Freed before an error is printed, because that needs some memory.
void* reserve = nullptr;

// A payload of the errors of FileError that a limit of this process causes.
constexpr absl::string_view kProcessLimit = "estimator/process_limit";

// The soft limit of this process; RLIM_INFINITY if there is none.
rlim_t LimitOf(decltype(RLIMIT_FSIZE) resource) {
  rlimit limit = {};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::string MemoryCure() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return absl::StrCat("the address space of the process is limited to ",
                        HumanBytes(static_cast<int64_t>(limit.rlim_cur)),
                        "; raise the limit (ulimit -v), or take a smaller batch");
  }
  return "take a smaller batch, or end other programs";
}

constexpr const char* kNoThreads =
    "cannot start a thread: too many threads or processes are running, or there is no memory for "
    "the stack of another one; raise the limit (ulimit -u, ulimit -v, or pids.max of a container), "
    "or set OMP_NUM_THREADS to a smaller number";

void PrintError(const absl::Status& status) {
  std::fprintf(stderr, "error: %s\n", status.ToString().c_str());
}

[[noreturn]] void HandleTerminate() {
  std::free(std::exchange(reserve, nullptr));
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& exception) {
      const absl::Status status = OutOfResourcesError(exception);
      if (!status.ok()) {
        PrintError(status);
        std::_Exit(exit_code_at_terminate);
      }
    } catch (...) {
    }
  }
  if (next_handler != nullptr) next_handler();
  std::abort();
}

// libgomp calls exit() after its message "Thread creation failed".
void HandleExit() {
  if (exit_is_expected) return;
  pthread_t thread;
  const int error = ::pthread_create(
      &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  if (error == EAGAIN) {
    PrintError(ResourceExhausted(kNoThreads));
  } else if (error == 0) {
    ::pthread_join(thread, nullptr);
  }
}

}  // namespace

absl::Status OutOfResourcesError(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
    const absl::string_view what = thrown.what();
    return ResourceExhausted(what == "std::bad_alloc" ? "out of memory" : what, ": ", MemoryCure());
  }
  const auto* const error = dynamic_cast<const std::system_error*>(&thrown);
  if (error != nullptr && error->code() == std::errc::resource_unavailable_try_again) {
    return ResourceExhausted(kNoThreads);
  }
  return absl::OkStatus();
}

absl::Status FileError(int number, absl::string_view verb, absl::string_view path) {
  const absl::Status status = absl::ErrnoToStatus(number, absl::StrCat("cannot ", verb, " ", path));
  std::string cure;
  if (number == EFBIG && LimitOf(RLIMIT_FSIZE) != RLIM_INFINITY)
    cure = absl::StrCat("; the system limits files to ", LimitOf(RLIMIT_FSIZE), " bytes",
                        " (ulimit -f)");
  if (number == EMFILE)
    cure = absl::StrCat("; the system limits this process to ", LimitOf(RLIMIT_NOFILE),
                        " open files (ulimit -n); raise the limit");
  if (number == ENOENT)
    return absl::Status(status.code(), absl::StrCat(status.message(), NoFileSystemFor(path)));
  if (cure.empty()) return status;
  absl::Status limited(status.code(), absl::StrCat(status.message(), cure));
  limited.SetPayload(kProcessLimit, absl::Cord());
  return limited;
}

bool IsProcessLimit(const absl::Status& status) {
  return status.GetPayload(kProcessLimit).has_value();
}

void ExpectExit() { exit_is_expected = true; }

void InstallOutOfResourcesHandlers(int exit_code) {
  exit_code_at_terminate = exit_code;
  ::signal(SIGXFSZ, SIG_IGN);
  if (reserve != nullptr) return;  // they are installed
  reserve = std::malloc(kReserveBytes);
  next_handler = std::set_terminate(HandleTerminate);
  std::atexit(HandleExit);
}

}  // namespace estimator
