// Pixels of up to four channels as vectors of four floats.
#ifndef ESTIMATOR_IMAGE_PIXEL_VECTOR_H_
#define ESTIMATOR_IMAGE_PIXEL_VECTOR_H_

#include <algorithm>
#include <cstdint>
#include <vector>

// The build is for x86-64-v3, which lacks these instructions; without this line Highway would not
// use AVX2 either.
#define HWY_DISABLE_PCLMUL_AES
#include "hwy/highway.h"

namespace estimator::image {

namespace hn = hwy::HWY_NAMESPACE;

using Float4Tag = hn::FixedTag<float, 4>;
using Float4 = hn::Vec<Float4Tag>;

// Reads four elements.
HWY_INLINE Float4 LoadPixel(const float* pixel) { return hn::LoadU(Float4Tag(), pixel); }
HWY_INLINE Float4 LoadPixel(const uint8_t* pixel) {
  const hn::FixedTag<uint8_t, 4> d8;
  const hn::FixedTag<int32_t, 4> d32;
  return hn::ConvertTo(Float4Tag(), hn::PromoteTo(d32, hn::LoadU(d8, pixel)));
}
// Writes four elements.
HWY_INLINE void StorePixel(Float4 value, float* pixel) { hn::StoreU(value, Float4Tag(), pixel); }
HWY_INLINE Float4 SetPixel(float value) { return hn::Set(Float4Tag(), value); }

// Vectors of four elements are used for pixels of 3 and 4 channels; the others are computed one by
// one.
inline bool UsesPixelVectors(int64_t channels) { return channels == 3 || channels == 4; }

// The rows of a batch of images, for LoadPixel: reading the last pixel of the last row as four
// elements would end after the Array, so that row is a copy.
template <typename T>
class PaddedRows {
 public:
  PaddedRows(const T* images, int64_t num_rows, int64_t row_size)
      : images_(images), last_(num_rows - 1), row_size_(row_size) {
    copy_.resize(static_cast<size_t>(row_size + 3));
    std::copy_n(images + last_ * row_size, row_size, copy_.begin());
  }

  const T* Row(int64_t row) const {
    return row == last_ ? copy_.data() : images_ + row * row_size_;
  }

 private:
  const T* images_;
  int64_t last_;
  int64_t row_size_;
  std::vector<T> copy_;
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_PIXEL_VECTOR_H_
