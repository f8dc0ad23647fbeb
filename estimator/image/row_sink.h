// Takes the rows of resized images in their order, as f32 or rounded to u8.
#ifndef ESTIMATOR_IMAGE_ROW_SINK_H_
#define ESTIMATOR_IMAGE_ROW_SINK_H_

#include <cstdint>
#include <vector>

#include "estimator/array/array.h"

namespace estimator::image {

// Rounds halves to even and clips to [0, 255]. NaN becomes 0.
void RoundToUint8(const float* in, int64_t n, uint8_t* out);

// Use: for each row of the result in order, write it to Next() and call Done().
class RowSink {
 public:
  // Next() has room for this number of elements after the row, so that a vector of one pixel may be
  // written whole.
  static constexpr int64_t kSlack = 3;

  // `result`: f32 or u8, of whole rows of `row_size` elements.
  RowSink(Array* result, int64_t row_size);

  float* Next();
  void Done();

 private:
  float* f32_ = nullptr;   // of the next row, if the result is f32
  uint8_t* u8_ = nullptr;  // of the next row, if the result is u8
  int64_t row_size_;
  int64_t rows_left_;
  std::vector<float> scratch_;
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_ROW_SINK_H_
