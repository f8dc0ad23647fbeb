// ArenaFence: under AddressSanitizer, an instruction may access only its own operands in the arena.
// A step has one allocation for all its values, so without this a read past the end of a value
// would read the next value, and nobody would notice. In other builds the class does nothing.
#ifndef ESTIMATOR_RUNTIME_ARENA_FENCE_H_
#define ESTIMATOR_RUNTIME_ARENA_FENCE_H_

#include <sanitizer/asan_interface.h>

#include <cstddef>

#include "absl/base/config.h"
#include "estimator/runtime/arena.h"

namespace estimator {

// While it exists, the whole arena is poisoned except for the bytes that Allow was called with.
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

  // Does nothing for bytes outside the arena.
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
