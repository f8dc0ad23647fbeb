#include "estimator/image/huffman/jpeg_bits.h"

namespace estimator::image {

bool JpegBits::RefillByBytes() {
  if (count_ < 0) return false;
  while (count_ < 56) {
    if (next_ == end_) return false;
    const uint8_t byte = *next_;
    if (byte == 0xff) {
      if (end_ - next_ < 2) return false;
      if (next_[1] != 0) return true;  // a marker
      ++next_;
    }
    ++next_;
    bits_ |= static_cast<uint64_t>(byte) << (56 - count_);
    count_ += 8;
  }
  return true;
}

bool JpegBits::TakeMarker(int code) {
  if (count_ < 0 || count_ >= 8) return false;
  if (end_ - next_ < 2 || next_[0] != 0xff || next_[1] != code) return false;
  *this = JpegBits(next_ + 2, end_);
  return true;
}

}  // namespace estimator::image
