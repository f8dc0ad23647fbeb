// Measures the memory of this process, and the memory and time of a function in a child process.
#ifndef ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_
#define ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace estimator {

// False under sanitizers: they allocate memory of their own, and asan delays freeing. A test must
// not compare memory then, and prints that it does not.
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

// The resident memory of this process now; 0 if /proc does not report it.
int64_t ResidentBytes();

struct ChildMemory {
  int64_t peak_bytes = 0;    // peak resident memory of the child, including the program itself
  int64_t growth_bytes = 0;  // peak_bytes minus the resident memory when `work` began
  double seconds = 0;
};

// Runs `work` in a child process and waits for it. Its changes to memory are lost; its files stay.
// REQUIRES: this process has no other threads. Errors: those of `work`; ABORTED if the child died.
absl::StatusOr<ChildMemory> MeasureInChild(const std::function<absl::Status()>& work);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_CHILD_MEMORY_H_
