// How much memory this process holds; how much memory and time a piece of work takes, measured in a
// process of its own.
#ifndef ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_
#define ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace estimator {

// False under sanitizers, which keep memory of their own, asan freed memory too. A test that
// compares memory leaves it out there, and says so.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(EST_SANITIZE_THREAD)  // .bazelrc: --config=tsan
inline constexpr bool kMemoryIsTrue = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool kMemoryIsTrue = false;
#else
inline constexpr bool kMemoryIsTrue = true;
#endif
#else
inline constexpr bool kMemoryIsTrue = true;
#endif

// What of this process lies in memory at this moment; 0 where /proc does not tell.
int64_t ResidentBytes();

struct ChildMemory {
  int64_t peak_bytes = 0;    // the most that the process held, the program itself included
  int64_t growth_bytes = 0;  // of that, what it did not hold when `work` began
  double seconds = 0;
};

// Runs `work` in a child and waits for it. What it changes in memory is lost, its files stay.
// REQUIRES: this process has no other threads. Errors: those of `work`; ABORTED if the child died.
absl::StatusOr<ChildMemory> MeasureInChild(const std::function<absl::Status()>& work);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_
