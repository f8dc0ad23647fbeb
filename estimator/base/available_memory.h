// How much memory a process can still allocate before the kernel kills it. The limit is the
// machine's memory, that of the process's control group (a container, a batch system's job), or the
// address space of the process (ulimit -v).
#ifndef ESTIMATOR_BASE_AVAILABLE_MEMORY_H_
#define ESTIMATOR_BASE_AVAILABLE_MEMORY_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>

namespace estimator {

struct AvailableMemory {
  int64_t bytes = 0;       // available without swapping
  int64_t swap_bytes = 0;  // free swap space; using it is slow
  // What limits `bytes`, for messages: "the machine's 24.0 GiB", "a limit of 2.0 GiB on its
  // control group".
  std::string bound = {};
};

// Reads the available memory from the kernel. Returns nullopt if the kernel does not report it.
// Caches that the kernel can reclaim count as available.
//   root: the folder to read instead of "/", for tests.
// Source: MemAvailable and SwapFree of /proc/meminfo; memory.max and memory.current (cgroup v2) or
// memory.limit_in_bytes and memory.usage_in_bytes (v1), and memory.stat. These are read for the
// process's group and for all groups above it. The address space is that of /proc/self/limits and
// /proc/self/statm.
std::optional<AvailableMemory> ReadAvailableMemory(absl::string_view root = "/");

}  // namespace estimator

#endif  // ESTIMATOR_BASE_AVAILABLE_MEMORY_H_
