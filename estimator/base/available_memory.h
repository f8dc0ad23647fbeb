// How much memory a process can still take before the kernel ends it: of the machine, or of the
// control group (a container, a batch system's job) that it runs in.
#ifndef ESTIMATOR_BASE_AVAILABLE_MEMORY_H_
#define ESTIMATOR_BASE_AVAILABLE_MEMORY_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <optional>
#include <string>

namespace estimator {

struct AvailableMemory {
  int64_t bytes = 0;       // without pushing anything out to disk
  int64_t swap_bytes = 0;  // free swap space: that much more, slowly
  // What sets the bound, with its size: "the machine's 24.0 GiB", "a limit of 2.0 GiB on its
  // control group".
  std::string bound = {};
};

// nullopt where the kernel does not say. Caches that the kernel gives up under pressure count as
// available. `root`: in place of "/", for tests. Source: MemAvailable and SwapFree of
// /proc/meminfo; memory.max, memory.current (cgroup v2) or memory.limit_in_bytes,
// memory.usage_in_bytes (v1) and memory.stat of the process's group and of those above it.
std::optional<AvailableMemory> ReadAvailableMemory(absl::string_view root = "/");

}  // namespace estimator

#endif  // ESTIMATOR_BASE_AVAILABLE_MEMORY_H_
