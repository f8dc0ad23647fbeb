// Lets a test make the file functions of estimator/base fail on purpose. A chosen operation returns
// an error, reads too few bytes, or writes only a part. Without an injector the cost is one atomic
// load for each operation.
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

// kOpen is opening or creating a file. kRead includes mapping a file. kSync applies to files and
// directories. kClose is closing a written file. kRename includes making a hard link. kList is
// listing a directory. kStat is asking for a name, size or time. kLock is flock(2).
// FileOperationName has a row for each, in this order.
enum class FileOperation {
  kOpen,
  kRead,
  kWrite,
  kSync,
  kClose,
  kRename,
  kRemove,
  kList,
  kStat,
  kLock
};

absl::string_view FileOperationName(FileOperation operation);

struct Fault {
  // If not OK, the operation returns this status.
  absl::Status status = absl::OkStatus();

  // The most bytes that a read or write transfers. With an OK status the caller does not notice:
  // a write reports success, as before a power loss; a read looks like the end of the file.
  std::optional<int64_t> truncate_after_bytes = std::nullopt;

  // The most bytes that one write(2) transfers. The rest must be written by further calls. Ignored
  // by other operations.
  std::optional<int64_t> bytes_per_call = std::nullopt;
};

// The hook is called before each operation, on any thread, one call at a time. It must not call
// file functions.
using FaultHook = std::function<Fault(FileOperation operation, absl::string_view path)>;

// Installs a hook for its lifetime. REQUIRES: no other is installed.
class ScopedFaultInjector {
 public:
  explicit ScopedFaultInjector(FaultHook hook);
  ~ScopedFaultInjector();
  ScopedFaultInjector(const ScopedFaultInjector&) = delete;
  ScopedFaultInjector& operator=(const ScopedFaultInjector&) = delete;
};

// A hook that simulates a crash. The first num_operations operations that change files succeed. The
// next one fails; if it is a write, a part of it is written. All later ones fail with UNAVAILABLE.
// Reading, listing and closing always succeed. To test a crash at every operation, raise
// num_operations until the code under test succeeds.
FaultHook CrashAfter(int num_operations);

// Calls the installed hook. No hook means no fault. The file functions call this.
Fault AskFaultInjector(FileOperation operation, absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FAULT_INJECTION_H_
