// For tests: convolutions of every kind that kernels/bfloat16 distinguishes, and random numbers.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_TESTING_CONVOLUTIONS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_TESTING_CONVOLUTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/half.h"
#include "estimator/base/random.h"
#include "estimator/kernels/bfloat16/convolution.h"

namespace estimator::bfloat16 {

// Uniform in [-1, 1).
inline std::vector<Bfloat16> RandomNumbers(int64_t count, uint64_t seed) {
  std::vector<Bfloat16> numbers;
  Philox philox(seed);
  while (static_cast<int64_t>(numbers.size()) < count) {
    for (const uint32_t bits : philox.Next4()) numbers.emplace_back(2 * UniformFloat(bits) - 1);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

// A square filter and its padding on all sides.
inline Convolution SquareFilter(int64_t images, int64_t rows, int64_t columns, int64_t in,
                                int64_t out, int64_t filter, int64_t stride, int64_t pad) {
  return {.images = images,
          .in_rows = rows,
          .in_columns = columns,
          .in_channels = in,
          .out_rows = (rows + 2 * pad - filter) / stride + 1,
          .out_columns = (columns + 2 * pad - filter) / stride + 1,
          .out_channels = out,
          .filter_rows = filter,
          .filter_columns = filter,
          .row_stride = stride,
          .column_stride = stride,
          .pad_top = pad,
          .pad_left = pad};
}

inline std::vector<Convolution> TestConvolutions() {
  Convolution uneven = SquareFilter(2, 9, 10, 16, 32, 3, 1, 0);  // filter 3x2, strides 2 and 3
  uneven.filter_columns = 2;
  uneven.row_stride = 2;
  uneven.column_stride = 3;
  uneven.out_rows = 5;  // the last row reads padding
  uneven.out_columns = 3;
  uneven.pad_top = 1;
  return {uneven, SquareFilter(2, 5, 7, 16, 16, 1, 1, 0), SquareFilter(1, 1, 1, 32, 64, 1, 1, 0),
          SquareFilter(3, 19, 23, 32, 96, 1, 1, 0),  // several blocks of pixels
          SquareFilter(2, 9, 8, 32, 64, 1, 2, 0),
          SquareFilter(1, 4, 5, 32, 32, 1, 1, 1),  // padding that only the filter's one tap reads
          SquareFilter(1, 5, 7, 17, 33, 3, 1, 1),  // groups of channels that are not full
          SquareFilter(3, 7, 7, 40, 70, 3, 1, 1), SquareFilter(2, 9, 8, 32, 64, 3, 2, 1),
          SquareFilter(1, 40, 61, 32, 64, 3, 1, 1),  // an image in segments, the last one shorter
          SquareFilter(1, 2, 600, 32, 32, 3, 1, 1),  // a row that is longer than a block
          SquareFilter(2, 11, 11, 64, 16, 5, 2, 2), SquareFilter(2, 4, 3, 96, 160, 3, 1, 0),
          // Images that are copied by taps: 25 taps; 147 numbers, of which rows of a filter cross
          // multiples of 32; rows of a filter that have more than 32 numbers.
          SquareFilter(2, 12, 10, 1, 32, 5, 1, 2), SquareFilter(2, 17, 14, 3, 40, 7, 2, 3),
          SquareFilter(1, 9, 9, 15, 16, 3, 1, 1),
          SquareFilter(1, 41, 31, 1, 32, 5, 1, 2)};  // in segments, the last one shorter
}

inline std::string Name(const Convolution& g) {
  return absl::StrCat(g.images, "x", g.in_rows, "x", g.in_columns, "x", g.in_channels, " -> ",
                      g.out_rows, "x", g.out_columns, "x", g.out_channels, ", ", g.filter_rows, "x",
                      g.filter_columns);
}

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_TESTING_CONVOLUTIONS_H_
