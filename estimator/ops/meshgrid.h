// Coordinates of the points of a grid.
#ifndef ESTIMATOR_OPS_MESHGRID_H_
#define ESTIMATOR_OPS_MESHGRID_H_

#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// kXY: the first two axes of the results are swapped, so that they are the rows and columns of an
// image.
enum class Indexing { kXY, kIJ };

// For vectors of sizes N1, N2, ...: returns as many tensors [N2, N1, ...] (kIJ: [N1, N2, ...]).
// Each repeats its vector along all other axes.
// Errors: INVALID_ARGUMENT if an operand is not a vector.
// Source: TF 2.15 tf.meshgrid.
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& vectors, Indexing indexing = Indexing::kXY,
                             StringArg name = "meshgrid");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MESHGRID_H_
