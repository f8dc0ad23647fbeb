// x[:, i] with an index that the graph computes, as the bodies of loops have it, and its gradient.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_COMPUTED_SLICES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_COMPUTED_SLICES_H_

#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Adds the rules of StridedSlice and StridedSliceGrad. An index of one element may be computed, and
// the bounds of a range may not: its size would not be static.
void AddComputedSlices(ImportRules& rules);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_LOOPS_COMPUTED_SLICES_H_
