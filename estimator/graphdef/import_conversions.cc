#include "estimator/graphdef/import_conversions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/builder.h"
#include "estimator/ops/einsum.h"

namespace estimator {
namespace {

std::vector<Tensor> Outputs(Graph& graph, Node* node) {
  if (node == nullptr) return {Tensor(&graph, nullptr, 0)};
  std::vector<Tensor> outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.emplace_back(&graph, node, i);
  return outputs;
}

// An x[...] of a StridedSlice with ellipses and new axes as one without, and what to do then.
struct PlainSlice {
  enum class Axis { kKept, kShrunk, kNew };
  std::vector<int64_t> begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, shrink_mask = 0;
  std::vector<Axis> axes;  // of the result, with those that were shrunk

  void AddWhole() {
    const int64_t bit = int64_t{1} << begin.size();
    begin.push_back(0), end.push_back(0), strides.push_back(1);
    begin_mask |= bit, end_mask |= bit;
    axes.push_back(Axis::kKept);
  }
};

// Source: TF 2.15 strided_slice_op.cc (BuildDenseSpec).
absl::StatusOr<PlainSlice> WithoutEllipsis(const ImportNode& node, int rank) {
  const ShapeContext context{node.inputs, node.attrs};
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, context.ConstantInts(1));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> end, context.ConstantInts(2));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, context.ConstantInts(3));
  constexpr size_t kMaxAxes = 32;  // the masks have that many bits
  if (begin.size() != end.size() || begin.size() != strides.size() || begin.size() > kMaxAxes ||
      rank > static_cast<int>(kMaxAxes)) {
    return absl::InvalidArgumentError(absl::StrCat(begin.size(), " begins, ", end.size(),
                                                   " ends and ", strides.size(),
                                                   " strides; they are to be as many, at most 32"));
  }
  const auto bit = [&node](const char* mask, size_t i) {
    return ((node.attrs.i(mask) >> i) & 1) != 0;
  };
  size_t named = 0;  // axes of the input that begin, end and strides speak of
  for (size_t i = 0; i < begin.size(); ++i) {
    if (!bit("ellipsis_mask", i) && !bit("new_axis_mask", i)) ++named;
  }
  if (named > static_cast<size_t>(rank)) {
    return absl::InvalidArgumentError(
        absl::StrCat("takes ", named, " axes of a tensor with ", rank));
  }
  PlainSlice plain;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit("ellipsis_mask", i)) {
      for (size_t k = named; k < static_cast<size_t>(rank); ++k) plain.AddWhole();
      named = static_cast<size_t>(rank);  // a second ellipsis stands for nothing
    } else if (bit("new_axis_mask", i)) {
      plain.axes.push_back(PlainSlice::Axis::kNew);
    } else {
      const int64_t at = int64_t{1} << plain.begin.size();
      plain.begin.push_back(begin[i]), plain.end.push_back(end[i]);
      plain.strides.push_back(strides[i]);
      if (bit("begin_mask", i)) plain.begin_mask |= at;
      if (bit("end_mask", i)) plain.end_mask |= at;
      const bool shrunk = bit("shrink_axis_mask", i);
      if (shrunk) plain.shrink_mask |= at;
      plain.axes.push_back(shrunk ? PlainSlice::Axis::kShrunk : PlainSlice::Axis::kKept);
    }
  }
  while (plain.begin.size() < static_cast<size_t>(rank)) plain.AddWhole();
  return plain;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> PassThrough(const ImportNode& node) { return node.inputs; }

absl::StatusOr<std::vector<Tensor>> ConvertClipByValue(const ImportNode& node) {
  const Tensor below =
      node.graph.AddOp("Minimum", {node.inputs[0], node.inputs[2]}, {}, node.name + "/Minimum");
  return std::vector<Tensor>{node.graph.AddOp("Maximum", {below, node.inputs[1]}, {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertConcat(const ImportNode& node) {
  if (node.inputs.empty()) return absl::InvalidArgumentError("Concat takes an axis and tensors");
  std::vector<Tensor> inputs = node.inputs;
  std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
  return std::vector<Tensor>{node.graph.AddOp("ConcatV2", std::move(inputs), {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertEinsum(const ImportNode& node) {
  return std::vector<Tensor>{Einsum(node.attrs.s("equation"), node.inputs, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertEnsureShape(const ImportNode& node) {
  return std::vector<Tensor>{node.graph.AddOp("EnsureShape", node.inputs, node.attrs, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertGather(const ImportNode& node) {
  return std::vector<Tensor>{OpBuilder("GatherV2", node.name)
                                 .Input(node.inputs[0])
                                 .Input(node.inputs[1])
                                 .Int("axis", 0)
                                 .Attr("batch_dims", int64_t{0})
                                 .Build()};
}

absl::StatusOr<std::vector<Tensor>> ConvertInTopK(const ImportNode& node) {
  const DType type = node.inputs[1].dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  return std::vector<Tensor>{OpBuilder("InTopKV2", node.name)
                                 .Input(node.inputs[0])
                                 .Input(node.inputs[1])
                                 .Const("k", Array::Scalar(node.attrs.i("k")).Cast(type))
                                 .Build()};
}

absl::StatusOr<std::vector<Tensor>> ConvertSelect(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  const Tensor &condition = inputs[0], &x = inputs[1];
  if (condition.rank() == 1 && x.rank() > 1) {
    std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
    dims[0] = condition.dim(0);
    inputs[0] =
        OpBuilder("Reshape", node.name + "/rows").Input(condition).Ints("shape", dims).Build();
  }
  return std::vector<Tensor>{node.graph.AddOp("SelectV2", std::move(inputs), {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertShapeN(const ImportNode& node) {
  std::vector<Tensor> shapes;
  for (const Tensor& input : node.inputs)
    shapes.push_back(node.graph.AddOp("Shape", {input}, node.attrs, node.name));
  return shapes;
}

absl::StatusOr<std::vector<Tensor>> ConvertStridedSlice(const ImportNode& node) {
  if (node.attrs.i("ellipsis_mask") == 0 && node.attrs.i("new_axis_mask") == 0)
    return Outputs(node.graph,
                   node.graph.AddNode("StridedSlice", node.inputs, node.attrs, node.name));
  const Tensor& x = node.inputs[0];
  EST_ASSIGN_OR_RETURN(const PlainSlice plain, WithoutEllipsis(node, x.rank()));
  const Tensor taken = OpBuilder("StridedSlice", node.name)
                           .Input(x)
                           .Ints("stack", plain.begin)
                           .Ints("stack_1", plain.end)
                           .Ints("stack_2", plain.strides)
                           .Attr("begin_mask", plain.begin_mask)
                           .Attr("end_mask", plain.end_mask)
                           .Attr("ellipsis_mask", int64_t{0})
                           .Attr("new_axis_mask", int64_t{0})
                           .Attr("shrink_axis_mask", plain.shrink_mask)
                           .Build();
  if (node.attrs.i("new_axis_mask") == 0 || !taken.valid()) return std::vector<Tensor>{taken};
  std::vector<int64_t> dims;
  int next = 0;
  for (const PlainSlice::Axis axis : plain.axes) {
    if (axis == PlainSlice::Axis::kNew) dims.push_back(1);
    if (axis == PlainSlice::Axis::kKept) dims.push_back(taken.dim(next++));
  }
  return std::vector<Tensor>{
      OpBuilder("Reshape", node.name + "/new_axes").Input(taken).Ints("shape", dims).Build()};
}

absl::StatusOr<std::vector<Tensor>> ConvertTopK(const ImportNode& node) {
  return OpBuilder("TopKV2", node.name)
      .Input(node.inputs[0])
      .Int("k", node.attrs.i("k"))
      .Attr("sorted", node.attrs.b("sorted"))
      .BuildN(2);
}

}  // namespace estimator
