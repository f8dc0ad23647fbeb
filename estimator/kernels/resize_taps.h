// What the ops that resize images read: for each row of the result the rows of the input that it is
// a weighted sum of. Columns are the same.
#ifndef ESTIMATOR_KERNELS_RESIZE_TAPS_H_
#define ESTIMATOR_KERNELS_RESIZE_TAPS_H_

#include <cstdint>
#include <vector>

#include "estimator/kernels/kernel.h"

namespace estimator {

struct ResizeTap {
  int64_t from = 0;
  float weight = 1;
};
using ResizeTaps = std::vector<std::vector<ResizeTap>>;

// The taps of ResizeBilinear, ResizeNearestNeighbor or the gradient of one, along axis 1 (rows) or
// 2 (columns) of its images. A gradient has the taps of its op with both sides swapped.
// Source: TF 2.15 image_resizer_state.h, resize_bilinear_op.cc, resize_nearest_neighbor_op.cc.
ResizeTaps ResizeTapsOf(const KernelSpec& spec, int axis);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_RESIZE_TAPS_H_
