// CRC-32C (Castagnoli), and the masked form in which TFRecord and TensorBundle store it.
#ifndef ESTIMATOR_BASE_CRC32C_H_
#define ESTIMATOR_BASE_CRC32C_H_

#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>

namespace estimator {

// Extends `crc`, the checksum of some bytes, to those bytes followed by `data`. The checksum of no
// bytes is 0.
uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size);
inline uint32_t ExtendCrc32c(uint32_t crc, absl::string_view data) {
  return ExtendCrc32c(crc, data.data(), data.size());
}

inline uint32_t Crc32c(const void* data, size_t size) { return ExtendCrc32c(0, data, size); }
inline uint32_t Crc32c(absl::string_view data) { return ExtendCrc32c(0, data.data(), data.size()); }

// A crc that is stored beside its data is masked: the crc of bytes that contain their own crc is
// degenerate. On disk: do not change. Source: leveldb util/crc32c.h.
inline constexpr uint32_t kCrc32cMaskDelta = 0xa282ead8u;

constexpr uint32_t MaskCrc32c(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + kCrc32cMaskDelta;
}
constexpr uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - kCrc32cMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace estimator

#endif  // ESTIMATOR_BASE_CRC32C_H_
