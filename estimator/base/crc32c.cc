#include "estimator/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace estimator {

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
  // ISA-L takes and returns the inverted crc, and its length is an int. It does not write to the
  // bytes, but its parameter is not const.
  constexpr size_t kMaxPieceBytes = size_t{1} << 30;
  auto* bytes = static_cast<unsigned char*>(const_cast<void*>(data));
  uint32_t inverted = ~crc;
  while (size > 0) {
    const size_t piece = std::min(size, kMaxPieceBytes);
    inverted = crc32_iscsi(bytes, static_cast<int>(piece), inverted);
    bytes += piece;
    size -= piece;
  }
  return ~inverted;
}

}  // namespace estimator
