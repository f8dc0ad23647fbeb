// ArenaFence: under AddressSanitizer an instruction may touch of the arena only its own operands. A
// step has one allocation for all its values, so a read past one of them would find the next one,
// and nobody would notice. In other builds nothing of this remains.
#ifndef ESTIMATOR_RUNTIME_ARENA_FENCE_H_
#define ESTIMATOR_RUNTIME_ARENA_FENCE_H_

#include <sanitizer/asan_interface.h>

#include <cstddef>

#include "absl/base/config.h"
#include "estimator/runtime/arena.h"

namespace estimator {

// The whole arena is out of bounds while it lives, but for what Allow names.
class ArenaFence {
 public:
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static constexpr bool kActive = true;
#else
  static constexpr bool kActive = false;
#endif

  explicit ArenaFence(const Arena& arena) : arena_(arena) {
    ASAN_POISON_MEMORY_REGION(arena_.data(), static_cast<size_t>(arena_.bytes()));
  }
  ~ArenaFence() { ASAN_UNPOISON_MEMORY_REGION(arena_.data(), static_cast<size_t>(arena_.bytes())); }
  ArenaFence(const ArenaFence&) = delete;
  ArenaFence& operator=(const ArenaFence&) = delete;

  // Of bytes outside of the arena: nothing.
  void Allow(const void* bytes, size_t size) const {
    const char* const begin = static_cast<const char*>(bytes);
    if (begin < arena_.data() || begin >= arena_.data() + arena_.bytes()) return;
    ASAN_UNPOISON_MEMORY_REGION(begin, size);
  }

 private:
  const Arena& arena_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_FENCE_H_
