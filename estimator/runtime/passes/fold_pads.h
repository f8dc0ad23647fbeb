// Folds the zeros around an image into the convolution that reads it.
#ifndef ESTIMATOR_RUNTIME_PASSES_FOLD_PADS_H_
#define ESTIMATOR_RUNTIME_PASSES_FOLD_PADS_H_

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Rewrites, for plain and depthwise convolutions:
//   Conv2D(Pad(x), filter)                  -> Conv2D(x, filter), padding EXPLICIT
//   Conv2DBackpropFilter(Pad(x), sizes, dy) -> Conv2DBackpropFilter(x, sizes, dy), EXPLICIT
//   Slice(Conv2DBackpropInput(sizes, filter, dy)) -> Conv2DBackpropInput, EXPLICIT
// The third is the gradient of the first. So neither the padded image nor its gradient is written.
// The convolution's own padding is added to the folded one.
//
// Stays as it is: a pad with another value than 0, along the batch or the channels, or at least as
// wide as the window; a padded image that an op other than these convolutions reads.
void FoldPads(Module& module);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FOLD_PADS_H_
