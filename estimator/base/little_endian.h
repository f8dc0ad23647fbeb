// Integers in file formats: the least significant byte is first.
#ifndef ESTIMATOR_BASE_LITTLE_ENDIAN_H_
#define ESTIMATOR_BASE_LITTLE_ENDIAN_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

// Appends the lower `num_bytes` bytes of a value.
inline void AppendLittleEndian(uint64_t value, size_t num_bytes, std::string* out) {
  for (size_t i = 0; i < num_bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// The value of at most 8 bytes.
inline uint64_t LoadLittleEndian(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace estimator

#endif  // ESTIMATOR_BASE_LITTLE_ENDIAN_H_
