#include "estimator/graphdef/import/op_conversions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "estimator/ops/building/builder.h"
#include "estimator/ops/einsum.h"

namespace estimator {

std::vector<Tensor> AddOutputs(Graph& graph, absl::string_view op, std::vector<Tensor> inputs,
                               Attrs attrs, absl::string_view name) {
  Node* const added = graph.AddNode(op, std::move(inputs), std::move(attrs), name);
  std::vector<Tensor> outputs;
  for (int i = 0; added != nullptr && i < added->num_outputs(); ++i)
    outputs.emplace_back(&graph, added, i);
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> PassThrough(const ImportNode& node) { return node.inputs; }

absl::StatusOr<std::vector<Tensor>> ConvertClipByValue(const ImportNode& node) {
  const Tensor below =
      node.graph.AddOp("Minimum", {node.inputs[0], node.inputs[2]}, {}, node.name + "/Minimum");
  return std::vector<Tensor>{node.graph.AddOp("Maximum", {below, node.inputs[1]}, {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertConcat(const ImportNode& node) {
  if (node.inputs.empty())
    return absl::InvalidArgumentError(
        "Concat needs an axis and at least one tensor, but has no inputs");
  std::vector<Tensor> inputs = node.inputs;
  // ConcatV2 has the axis last.
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
  // InTopKV2 wants k in the dtype of the targets.
  const DType type = node.inputs[1].dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  return std::vector<Tensor>{OpBuilder("InTopKV2", node.name)
                                 .Input(node.inputs[0])
                                 .Input(node.inputs[1])
                                 .Const("k", Array::Scalar(node.attrs.i("k")).Cast(type))
                                 .Build()};
}

namespace {

bool IsConstant(const Tensor& tensor, double value) {
  if (tensor.node()->op() != "Const" || tensor.dtype() == DType::kString) return false;
  const Array& constant = tensor.node()->attrs().get<Array>("value");
  return constant.num_elements() == 1 && constant.AsDouble(0) == value;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiag(const ImportNode& node) {
  const Tensor& diagonal = node.inputs[0];
  const auto size = diagonal.rank() > 0 ? static_cast<double>(diagonal.dim(-1)) : 0;
  const auto square = [&](size_t i) {
    return IsConstant(node.inputs[i], -1) || IsConstant(node.inputs[i], size);
  };
  if (!IsConstant(node.inputs[1], 0) || !square(2) || !square(3) || !IsConstant(node.inputs[4], 0))
    return absl::UnimplementedError(
        "only the main diagonal of a square matrix is supported, with zeros elsewhere");
  return std::vector<Tensor>{node.graph.AddOp("MatrixDiag", {diagonal}, {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertMatrixDiagPart(const ImportNode& node) {
  if (!IsConstant(node.inputs[1], 0))
    return absl::UnimplementedError("only the main diagonal is supported");
  return std::vector<Tensor>{node.graph.AddOp("MatrixDiagPart", {node.inputs[0]}, {}, node.name)};
}

absl::StatusOr<std::vector<Tensor>> ConvertSelect(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  const Tensor &condition = inputs[0], &x = inputs[1];
  // SelectV2 broadcasts from the last axis, but Select takes one condition for each row.
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
