// Varints of protocol buffers and leveldb: 7 bits in each byte, the least significant first. The
// high bit is set in all bytes but the last.
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

// Reads a varint at *position and moves *position past it. Returns false if there is no whole
// varint of at most 64 bits.
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
