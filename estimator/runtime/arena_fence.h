// ArenaFence: under AddressSanitizer, an instruction may access only its own operands in the arena.
// A step has one allocation for all its values, so without this a read past the end of a value
// would read the next value, and nobody would notice. In other builds the class does nothing.
#ifndef ESTIMATOR_RUNTIME_ARENA_FENCE_H_
#define ESTIMATOR_RUNTIME_ARENA_FENCE_H_

#include <sanitizer/asan_interface.h>

#include <cstddef>
#include <cstdint>

#include "absl/base/config.h"
#include "estimator/runtime/arena.h"

namespace estimator {

// A part of the memory that instructions compute in.
struct MemoryArea {
  char* data = nullptr;
  int64_t bytes = 0;
};

// While it exists, the whole area is poisoned except for the bytes that Allow was called with.
class ArenaFence {
 public:
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static constexpr bool kActive = true;
#else
  static constexpr bool kActive = false;
#endif

  explicit ArenaFence(const MemoryArea& area) : area_(area) {
    ASAN_POISON_MEMORY_REGION(area_.data, static_cast<size_t>(area_.bytes));
  }
  explicit ArenaFence(const Arena& arena) : ArenaFence(MemoryArea{arena.data(), arena.bytes()}) {}
  ~ArenaFence() { ASAN_UNPOISON_MEMORY_REGION(area_.data, static_cast<size_t>(area_.bytes)); }
  ArenaFence(const ArenaFence&) = delete;
  ArenaFence& operator=(const ArenaFence&) = delete;

  // Does nothing for bytes outside the area.
  void Allow(const void* bytes, size_t size) const {
    const char* const begin = static_cast<const char*>(bytes);
    if (begin < area_.data || begin >= area_.data + area_.bytes) return;
    ASAN_UNPOISON_MEMORY_REGION(begin, size);
  }

 private:
  const MemoryArea area_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_ARENA_FENCE_H_
