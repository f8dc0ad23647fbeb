// Coordinates of a grid.
#ifndef ESTIMATOR_OPS_MESHGRID_H_
#define ESTIMATOR_OPS_MESHGRID_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// kXY: the first two axes of the results change places, as for a picture's rows and columns.
enum class Indexing { kXY, kIJ };

// For vectors of sizes N1, N2, ...: as many tensors [N2, N1, ...] (kIJ: [N1, N2, ...]), each with
// its vector along its own axis.
// Errors: INVALID_ARGUMENT for an operand that is no vector.
// Source: TF 2.15 tf.meshgrid.
std::vector<Tensor> Meshgrid(const std::vector<Tensor>& vectors, Indexing indexing = Indexing::kXY,
                             absl::string_view name = "meshgrid");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_MESHGRID_H_
