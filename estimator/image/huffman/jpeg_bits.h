// The bits of the compressed data of a JPEG file. Internal to estimator/image.
#ifndef ESTIMATOR_IMAGE_HUFFMAN_JPEG_BITS_H_
#define ESTIMATOR_IMAGE_HUFFMAN_JPEG_BITS_H_

#include <cstdint>
#include <cstring>

#include "absl/base/attributes.h"

namespace estimator::image {

// The bits of a scan, from the most significant one of each byte. A byte 0 that follows a byte 255
// is not part of the data; any other byte there makes a marker, which ends the bits.
class JpegBits {
 public:
  JpegBits() = default;
  JpegBits(const uint8_t* next, const uint8_t* end) : next_(next), end_(end) {}

  // Makes at least 56 bits available, or all that precede the next marker and then zeros. False if
  // more bits were taken than there are, or if the data end without a marker.
  bool Refill();
  // The next n bits, n in [1, 32]. REQUIRES: at most 56 bits were taken since the last Refill,
  // these n included.
  uint32_t Peek(int n) const { return static_cast<uint32_t>(bits_ >> (64 - n)); }
  // The next 64 bits. Only those that are available are data.
  uint64_t PeekAll() const { return bits_; }
  void Drop(int n) {
    bits_ <<= n;
    count_ -= n;
  }
  // Whether no more bits were taken than there are.
  bool ok() const { return count_ >= 0; }
  // Takes the marker 255, `code`. False if less than all bits before it, up to the last byte, were
  // taken.
  bool TakeMarker(int code);
  const uint8_t* next() const { return next_; }

 private:
  bool RefillByBytes();

  uint64_t bits_ = 0;  // the next bit is the highest one
  int count_ = 0;      // bits of bits_ that are data; negative: bits were taken that are not there
  const uint8_t* next_ = nullptr;  // the next byte to load
  const uint8_t* end_ = nullptr;
};

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool JpegBits::Refill() {
  if (end_ - next_ >= 8 && count_ >= 0) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, next_, sizeof(bytes));
    constexpr uint64_t kOnes = 0x0101010101010101u;
    const bool has_255 = ((~bytes - kOnes) & bytes & (kOnes << 7)) != 0;
    if (!has_255) {
      // This also sets some bits of the first byte that does not fit whole. They are set again when
      // that byte is loaded.
      bits_ |= __builtin_bswap64(bytes) >> count_;
      next_ += (63 - count_) >> 3;
      count_ |= 56;
      return true;
    }
  }
  JpegBits copy = *this;  // so that bits_ and count_ stay in registers
  const bool more = copy.RefillByBytes();
  *this = copy;
  return more;
}

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_HUFFMAN_JPEG_BITS_H_
