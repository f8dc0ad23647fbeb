#include "estimator/image/row_sink.h"

#include <algorithm>
#include <cmath>

#include "estimator/image/pixel_vector.h"

namespace estimator::image {

void RoundToUint8(const float* in, int64_t n, uint8_t* out) {
  const hn::FixedTag<float, 8> d;
  const hn::FixedTag<uint8_t, 8> d8;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    // Max returns its second operand for a NaN.
    const auto clipped = hn::Min(hn::Max(hn::LoadU(d, in + i), hn::Zero(d)), hn::Set(d, 255.f));
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(clipped)), d8, out + i);
  }
  for (; i < n; ++i) {
    const float clipped = in[i] > 0 ? std::min(in[i], 255.f) : 0;
    out[i] = static_cast<uint8_t>(std::nearbyint(clipped));
  }
}

RowSink::RowSink(Array* result, int64_t row_size)
    : row_size_(row_size),
      rows_left_(row_size == 0 ? 0 : result->num_elements() / row_size),
      scratch_(static_cast<size_t>(row_size + kSlack)) {
  if (result->dtype() == DType::kFloat32) {
    f32_ = result->data<float>();
  } else {
    u8_ = result->data<uint8_t>();
  }
}

// A row of f32 is written in place. What is written after it is overwritten by the row that
// follows; no row follows the last one.
float* RowSink::Next() { return f32_ != nullptr && rows_left_ > 1 ? f32_ : scratch_.data(); }

void RowSink::Done() {
  if (f32_ != nullptr) {
    if (rows_left_ == 1) std::copy_n(scratch_.data(), row_size_, f32_);
    f32_ += row_size_;
  } else {
    RoundToUint8(scratch_.data(), row_size_, u8_);
    u8_ += row_size_;
  }
  --rows_left_;
}

}  // namespace estimator::image
