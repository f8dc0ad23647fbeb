#include "estimator/graphdef/import_conversions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "estimator/ops/builder.h"
#include "estimator/ops/einsum.h"

namespace estimator {

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

absl::StatusOr<std::vector<Tensor>> ConvertTopK(const ImportNode& node) {
  return OpBuilder("TopKV2", node.name)
      .Input(node.inputs[0])
      .Int("k", node.attrs.i("k"))
      .Attr("sorted", node.attrs.b("sorted"))
      .BuildN(2);
}

}  // namespace estimator
