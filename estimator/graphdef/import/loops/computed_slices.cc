#include "estimator/graphdef/import/loops/computed_slices.h"

#include <optional>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

constexpr absl::string_view kMasks =
    "begin_mask:i=0 end_mask:i=0 ellipsis_mask:i=0 new_axis_mask:i=0 shrink_axis_mask:i=0";

// An index from the beginning of an axis, where -1 is the last element.
Tensor FromStart(const Tensor& at, int64_t size) {
  return Where(Less(at, ZerosLike(at)), at + Cast(Constant(size), at.dtype()), at);
}

// A slice with constant bounds, and the computed indices that are taken from its result.
struct Slice {
  std::vector<Tensor> bounds;  // begin, end, strides
  Attrs masks;
  struct Index {
    int axis;  // of the result, in which each index still has its axis
    int of;    // the axis of the sliced tensor
    Tensor at;
  };
  std::vector<Index> indices;
};

// The elements of begin or end that are constant.
std::vector<std::optional<int64_t>> Elements(const Tensor& tensor) {
  std::vector<std::optional<int64_t>> elements(static_cast<size_t>(tensor.dim(0)));
  const bool packs = tensor.node()->op() == "Pack";
  const absl::StatusOr<std::vector<int64_t>> all = ConstantIntsOf(tensor);
  for (size_t k = 0; k < elements.size(); ++k) {
    if (all.ok()) elements[k] = (*all)[k];
    if (all.ok() || !packs) continue;
    const absl::StatusOr<std::vector<int64_t>> one =
        ConstantIntsOf(tensor.node()->input(static_cast<int>(k)));
    if (one.ok() && one->size() == 1) elements[k] = (*one)[0];
  }
  return elements;
}

// nullopt: all bounds are constants, or ones are computed that have to be.
//   first: the number of the input `begin`.
std::optional<Slice> ReadSlice(const ImportNode& node, size_t first) {
  const Tensor &begin = node.inputs[first], &end = node.inputs[first + 1];
  const absl::StatusOr<std::vector<int64_t>> strides = ConstantIntsOf(node.inputs[first + 2]);
  const bool simple = node.attrs.i("ellipsis_mask") == 0 && node.attrs.i("new_axis_mask") == 0;
  if (!simple || !strides.ok() || begin.rank() != 1 || !(begin.spec() == end.spec()) ||
      begin.dim(0) != static_cast<int64_t>(strides->size()) || begin.dim(0) > 32)
    return std::nullopt;
  std::vector<std::optional<int64_t>> begins = Elements(begin), ends = Elements(end);
  int64_t masks[] = {node.attrs.i("begin_mask"), node.attrs.i("end_mask"),
                     node.attrs.i("shrink_axis_mask")};
  Slice slice;
  int removed = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t bit = int64_t{1} << k;
    const bool shrinks = (masks[2] & bit) != 0;
    if (shrinks && !begins[k].has_value()) {
      const bool packs = begin.node()->op() == "Pack";
      const Tensor at = packs ? begin.node()->input(static_cast<int>(k))
                              : Gather(begin, Constant(static_cast<int32_t>(k)));
      slice.indices.push_back({static_cast<int>(k) - removed, static_cast<int>(k), at});
      for (const size_t m : {0, 1}) masks[m] |= bit;
      masks[2] &= ~bit;
    } else if ((!begins[k].has_value() && (masks[0] & bit) == 0) ||
               (!ends[k].has_value() && (masks[1] & bit) == 0 && !shrinks)) {
      return std::nullopt;
    }
    if (shrinks && begins[k].has_value()) ++removed;
    // TensorFlow takes one element here, whatever `end` is.
    if (shrinks && begins[k].has_value()) ends[k] = *begins[k] + 1;
  }
  if (slice.indices.empty()) return std::nullopt;
  std::vector<int64_t> low, high;
  for (size_t k = 0; k < begins.size(); ++k) {
    low.push_back(begins[k].value_or(0));
    high.push_back(ends[k].value_or(0));
  }
  for (const std::vector<int64_t>& values : {low, high, *strides})
    slice.bounds.push_back(node.graph.AddConst(
        Array::FromSpan<int64_t>({begin.dim(0)}, values).Cast(begin.dtype()), "bound"));
  slice.masks = {{"begin_mask", masks[0]},
                 {"end_mask", masks[1]},
                 {"ellipsis_mask", int64_t{0}},
                 {"new_axis_mask", int64_t{0}},
                 {"shrink_axis_mask", masks[2]}};
  return slice;
}

ImportOutputs ConvertStridedSlice(const ImportNode& node) {
  const std::optional<Slice> slice = ReadSlice(node, 1);
  if (!slice.has_value())
    return AddOutputs(node.graph, "StridedSlice", node.inputs, node.attrs, node.name);
  std::vector<Tensor> inputs = {node.inputs[0]};
  inputs.insert(inputs.end(), slice->bounds.begin(), slice->bounds.end());
  Tensor x = node.graph.AddOp("StridedSlice", inputs, slice->masks, node.name);
  // From the last axis on, so that the others keep their numbers.
  for (auto index = slice->indices.rbegin(); x.valid() && index != slice->indices.rend(); ++index)
    x = Gather(x, FromStart(index->at, x.dim(index->axis)), {.axis = index->axis});
  return std::vector<Tensor>{x};
}

ImportOutputs ConvertStridedSliceGrad(const ImportNode& node) {
  const std::optional<Slice> slice = ReadSlice(node, 1);
  const absl::StatusOr<std::vector<int64_t>> sizes = ConstantIntsOf(node.inputs[0]);
  if (!slice.has_value() || !sizes.ok())
    return AddOutputs(node.graph, "StridedSliceGrad", node.inputs, node.attrs, node.name);
  Tensor grad = node.inputs[4];
  for (const Slice::Index& index : slice->indices) {
    if (!grad.valid() || index.axis > grad.rank() || static_cast<size_t>(index.of) >= sizes->size())
      return InvalidArgument("its shape does not fit its slice");
    const int64_t size = (*sizes)[static_cast<size_t>(index.of)];
    std::vector<int64_t> dims(static_cast<size_t>(grad.rank() + 1 - index.axis), 1);
    dims[0] = size;
    const Tensor at = FromStart(index.at, size);
    const Tensor here = Reshape(Equal(Cast(Range(size), at.dtype()), at), Shape(dims));
    grad = Where(here, ExpandDims(grad, index.axis), 0);
  }
  return AddOutputs(node.graph, "StridedSliceGrad",
                    {node.inputs[0], slice->bounds[0], slice->bounds[1], slice->bounds[2], grad},
                    slice->masks, node.name);
}

}  // namespace

void AddComputedSlices(ImportRules& rules) {
  rules["StridedSlice"] = {"", kMasks, ConvertStridedSlice, 4};
  rules["StridedSliceGrad"] = {"", kMasks, ConvertStridedSliceGrad, 5};
}

}  // namespace estimator
