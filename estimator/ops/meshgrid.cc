#include "estimator/ops/meshgrid.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

std::vector<Tensor> Meshgrid(const std::vector<Tensor>& vectors, Indexing indexing,
                             StringArg name) {
  std::vector<int64_t> sizes;
  for (const Tensor& vector : vectors) {
    if (!vector.valid()) return std::vector<Tensor>(vectors.size(), vector);
    if (vector.rank() != 1) {
      return std::vector<Tensor>(vectors.size(),
                                 vector.graph()->Fail(InvalidArgument(name, ": takes vectors, not ",
                                                                      vector.spec().ToString())));
    }
    sizes.push_back(vector.dim(0));
  }
  if (vectors.empty()) return {};
  const NameScope scope(name, *vectors[0].graph());
  const bool swapped = indexing == Indexing::kXY && vectors.size() > 1;
  if (swapped) std::swap(sizes[0], sizes[1]);
  std::vector<Tensor> grid;
  for (size_t i = 0; i < vectors.size(); ++i) {
    const size_t axis = swapped && i < 2 ? 1 - i : i;
    std::vector<int64_t> along(vectors.size(), 1);
    along[axis] = sizes[axis];
    grid.push_back(BroadcastTo(Reshape(vectors[i], Shape(along)), Shape(sizes)));
  }
  return grid;
}

}  // namespace estimator
