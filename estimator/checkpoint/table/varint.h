// Varints, as protocol buffers and leveldb have them: 7 bits a byte, least significant first, the
// high bit set on all bytes but the last.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_VARINT_H_
#define ESTIMATOR_CHECKPOINT_TABLE_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Reads at *position and moves it past the varint. False if no whole one of at most 64 bits is
// there.
inline bool ReadVarint(absl::string_view bytes, size_t* position, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift <= 63 && *position < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[(*position)++]);
    if (shift == 63 && byte > 1) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_VARINT_H_
