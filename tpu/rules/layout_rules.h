// Rules about sizes: what a TPU's tiles of 8 by 128 numbers and its 128 wide matrix unit make of
// the shapes of a model.
#ifndef TPU_RULES_LAYOUT_RULES_H_
#define TPU_RULES_LAYOUT_RULES_H_

#include <cstdint>

#include "tpu/rules/checked_model.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {

// The bytes of a tensor in a TPU's memory, in the layout that pads it least: one axis is padded to
// a multiple of 128, another one to 8 (f32), 16 (two bytes) or 32 (one byte). Scalars and vectors
// are padded on one axis only. XLA chooses layouts by more than their size, so this is a lower
// bound.
int64_t TiledBytes(const TensorSpec& spec);

// The multiplications of the op that the matrix unit makes, divided by those that the shapes need.
// 1 for other ops than products of matrices and convolutions.
double PaddedArithmetic(const Node& node);

// few-rows, rows-not-of-8, features-not-of-128, tiled-size, tensor-too-large.
void CheckLayoutRules(const CheckedModel& model, Report& report);

}  // namespace estimator::tpu

#endif  // TPU_RULES_LAYOUT_RULES_H_
