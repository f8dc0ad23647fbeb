// Lets a test make the file functions of estimator/base fail on purpose: an error, a short read, or
// a torn write at any chosen operation. With no injector installed it costs one atomic load.
//
//   ScopedFaultInjector faults([](FileOperation operation, absl::string_view path) -> Fault {
//     if (operation == FileOperation::kRename) return {.status = absl::UnavailableError("lost")};
//     return {};
//   });
#ifndef ESTIMATOR_BASE_FAULT_INJECTION_H_
#define ESTIMATOR_BASE_FAULT_INJECTION_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace estimator {

// kOpen stands for opening or creating a file, kRead also for mapping one, kSync for files and
// folders.
enum class FileOperation { kOpen, kRead, kWrite, kSync, kRename, kRemove };

absl::string_view FileOperationName(FileOperation operation);

struct Fault {
  // Not OK: the operation returns this status. Default: no fault.
  absl::Status status;

  // Of a read or write: only this many bytes at most come through. With an OK status the caller is
  // not told: a write pretends success, as before a power loss; a read looks like the file's end.
  std::optional<int64_t> truncate_after_bytes;
};

// Asked before each operation, by any thread, one at a time. Must not call file functions.
using FaultHook = std::function<Fault(FileOperation operation, absl::string_view path)>;

// Installs a hook for its lifetime. REQUIRES: no other is installed.
class ScopedFaultInjector {
 public:
  explicit ScopedFaultInjector(FaultHook hook);
  ~ScopedFaultInjector();
  ScopedFaultInjector(const ScopedFaultInjector&) = delete;
  ScopedFaultInjector& operator=(const ScopedFaultInjector&) = delete;
};

// A hook under which the process seems to die: operations that change files succeed num_operations
// times, the next write is torn in the middle, and all that follow fail with UNAVAILABLE. Reads
// pass. For tests that kill at every instant: raise num_operations until the code under test
// succeeds.
FaultHook CrashAfter(int num_operations);

// What the installed hook says. Called by the file functions.
Fault AskFaultInjector(FileOperation operation, absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FAULT_INJECTION_H_
