// Arena: the memory that the steps of one replica compute in.
#ifndef ESTIMATOR_RUNTIME_ARENA_H_
#define ESTIMATOR_RUNTIME_ARENA_H_

#include <cstddef>
#include <cstdint>

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
  void Reserve(int64_t bytes);
  // 64-byte aligned (a huge page's alignment where it is that large).
  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_H_
