// Arena: the memory for the values of a step, on one replica.
#ifndef ESTIMATOR_RUNTIME_ARENA_H_
#define ESTIMATOR_RUNTIME_ARENA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/available_memory.h"

namespace estimator {

// Programs that never run at the same time can share an arena (training and evaluation of a
// replica), because nothing in it is needed after a step. Replicas that take turns share a second
// one for what is not needed after a segment of a step. Not thread-safe.
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

  // Who runs a step in it: the values of another step are lost.
  void set_user(const void* user) { user_ = user; }
  const void* user() const { return user_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
  const void* user_ = nullptr;
};

// The memory of a backend: an arena for each replica, and one that they share.
struct Arenas {
  explicit Arenas(int num_replicas);

  std::vector<std::shared_ptr<Arena>> own;
  std::shared_ptr<Arena> shared;
};

// Reserves memory for a step: `bytes` in the arena of each replica, and `shared_bytes` in the one
// that they share. The program takes `derived_bytes` itself. The system grants memory that it does
// not have, and kills the process that uses it. So this first checks what is available.
// Errors: RESOURCE_EXHAUSTED with what is planned, what is available, and the cure. If the step
// only fits with swap space, logs a warning.
absl::Status ReserveArenas(const Arenas& arenas, int64_t bytes, int64_t shared_bytes = 0,
                           int64_t derived_bytes = 0);
// The memory that ReserveArenas would take: what the arenas lack, and `derived_bytes`.
int64_t MissingBytes(const Arenas& arenas, int64_t bytes, int64_t shared_bytes,
                     int64_t derived_bytes);
// The check of ReserveArenas with given available memory, for tests; nullopt: it is not known.
absl::Status CheckMemory(const Arenas& arenas, int64_t bytes, int64_t shared_bytes,
                         const std::optional<AvailableMemory>& available,
                         int64_t derived_bytes = 0);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_H_
