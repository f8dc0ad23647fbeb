#include "estimator/base/fault_injection.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace estimator {
namespace {

std::atomic<bool> installed = false;
std::mutex mutex;
FaultHook* hook = nullptr;  // guarded by mutex

}  // namespace

absl::string_view FileOperationName(FileOperation operation) {
  constexpr absl::string_view kNames[] = {"open",   "read",   "write", "sync", "close",
                                          "rename", "remove", "list",  "stat", "lock"};
  return kNames[static_cast<size_t>(operation)];
}

ScopedFaultInjector::ScopedFaultInjector(FaultHook new_hook) {
  const std::lock_guard<std::mutex> lock(mutex);
  CHECK(hook == nullptr) << "a fault injector is installed already";
  hook = new FaultHook(std::move(new_hook));
  installed = true;
}

ScopedFaultInjector::~ScopedFaultInjector() {
  const std::lock_guard<std::mutex> lock(mutex);
  installed = false;
  delete std::exchange(hook, nullptr);
}

FaultHook CrashAfter(int num_operations) {
  return [remaining = num_operations, torn = false](FileOperation operation,
                                                    absl::string_view path) mutable -> Fault {
    const bool changes_nothing =
        operation == FileOperation::kRead || operation == FileOperation::kList ||
        operation == FileOperation::kStat || operation == FileOperation::kLock ||
        operation == FileOperation::kClose;
    if (changes_nothing) return {};
    if (remaining-- > 0) return {};
    remaining = 0;
    const absl::Status status = absl::UnavailableError(
        absl::StrCat("injected crash before ", FileOperationName(operation), " of ", path));
    const bool first = !std::exchange(torn, true);
    if (first && operation == FileOperation::kWrite) {
      return {.status = status, .truncate_after_bytes = 7};  // any small number tears the write
    }
    return {.status = status, .truncate_after_bytes = std::nullopt};
  };
}

Fault AskFaultInjector(FileOperation operation, absl::string_view path) {
  if (!installed.load(std::memory_order_acquire)) return {};
  const std::lock_guard<std::mutex> lock(mutex);
  return hook == nullptr ? Fault() : (*hook)(operation, path);
}

}  // namespace estimator
