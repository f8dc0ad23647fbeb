// Ops that occur in TensorFlow's gradients and not in models for inference.
//
// Shapes are static, so what computes shapes (BroadcastGradientArgs, ConcatOffset, DynamicStitch)
// has constant inputs and becomes a constant.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_GRADIENT_CONVERSIONS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_GRADIENT_CONVERSIONS_H_

#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Adds the rules of these ops.
void AddGradientConversions(ImportRules& rules);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_GRADIENT_CONVERSIONS_H_
