#include "estimator/ops/sort.h"

#include <numeric>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/search.h"

namespace estimator {
namespace {

// Reverses the order of the elements; equal elements stay equal. For integers it is -1 - x, which
// does not overflow for any number.
Tensor Reversed(const Tensor& x) { return IsFloating(x.dtype()) ? Negate(x) : Invert(x); }

// TopK along `axis`, which is the last axis meanwhile. The results have the axis at its own place.
TopKResult Sorted(const Tensor& x, int given_axis, SortDirection direction,
                  absl::string_view name) {
  if (!x.valid()) return {x, x};
  Graph& graph = *x.graph();
  const NameScope scope(name, graph);
  const int axis = given_axis < 0 ? given_axis + x.rank() : given_axis;
  if (axis < 0 || axis >= x.rank()) {
    const Tensor failed = graph.Fail(
        InvalidArgument(name, ": axis ", given_axis, " is out of range for ", x.spec().ToString()));
    return {failed, failed};
  }
  std::vector<int64_t> perm(static_cast<size_t>(x.rank()));
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  const bool last = axis == x.rank() - 1;
  const bool ascending = direction == SortDirection::kAscending;
  const Tensor rows = last ? x : Transpose(x, perm);
  TopKResult top = TopK(ascending ? Reversed(rows) : rows, x.dim(axis));
  if (ascending) top.values = Reversed(top.values);
  if (last) return top;
  return {Transpose(top.values, perm), Transpose(top.indices, perm)};
}

}  // namespace

Tensor ArgSort(const Tensor& x, int axis, const SortOptions& options) {
  return Sorted(x, axis, options.direction, NameOr(options.name, "argsort")).indices;
}

Tensor Sort(const Tensor& x, int axis, const SortOptions& options) {
  return Sorted(x, axis, options.direction, NameOr(options.name, "sort")).values;
}

}  // namespace estimator
