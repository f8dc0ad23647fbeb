// Arena: the memory that the steps of one replica compute in.
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

// Shared by programs that never run at the same time (training and evaluation of one replica):
// nothing in it outlives a step. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // At least `bytes` bytes from now on; moves data() where it grows.
  // Errors: RESOURCE_EXHAUSTED where the system refuses; the arena is empty then.
  absl::Status Reserve(int64_t bytes);
  // 64-byte aligned (a huge page's alignment where it is that large).
  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

// Room for a step of `bytes` in the arena of each replica. The system hands out memory that it does
// not have, and ends the process when it is used: so this looks first whether it is there.
// Errors: RESOURCE_EXHAUSTED with what is planned, what there is, and the cure. Where only swap
// space makes up for what is missing, a warning is logged.
absl::Status ReserveArenas(const std::vector<std::shared_ptr<Arena>>& arenas, int64_t bytes);
// With what there is, for tests; nullopt: not known.
absl::Status CheckMemory(const std::vector<std::shared_ptr<Arena>>& arenas, int64_t bytes,
                         const std::optional<AvailableMemory>& available);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_H_
