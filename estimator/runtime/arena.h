// Arena: the memory for the values of a step, on one replica.
#ifndef ESTIMATOR_RUNTIME_ARENA_H_
#define ESTIMATOR_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/available_memory.h"

namespace estimator {

// Programs that never run at the same time can share an arena (training and evaluation of a
// replica), because nothing in it is needed after a step. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Grows the arena to at least `bytes` bytes; data() changes when it grows.
  // Errors: RESOURCE_EXHAUSTED if the system refuses the memory; then the arena is empty.
  absl::Status Reserve(int64_t bytes);
  // 64-byte aligned; if the arena is at least a huge page large, aligned to a huge page.
  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Reserves memory for a step of `bytes` in the arena of each replica. The system grants memory that
// it does not have, and kills the process that uses it. So this first checks what is available.
// Errors: RESOURCE_EXHAUSTED with what is planned, what is available, and the cure. If the step
// only fits with swap space, logs a warning.
absl::Status ReserveArenas(const std::vector<std::shared_ptr<Arena>>& arenas, int64_t bytes);
// The check of ReserveArenas with given available memory, for tests; nullopt: it is not known.
absl::Status CheckMemory(const std::vector<std::shared_ptr<Arena>>& arenas, int64_t bytes,
                         const std::optional<AvailableMemory>& available);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_H_
