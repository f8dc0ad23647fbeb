#include "estimator/graphdef/import/op_conversions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/einsum.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

namespace {

constexpr int64_t kMaxBlock = 1 << 15;  // the square of the size of a block fits its type

// Returns the inputs as outputs: for Identity, and for ops that matter only in training.
ImportOutputs PassThrough(const ImportNode& node) { return node.inputs; }

ImportOutputs ConvertClipByValue(const ImportNode& node) {
  const Tensor below =
      node.graph.AddOp("Minimum", {node.inputs[0], node.inputs[2]}, {}, node.name + "/Minimum");
  return std::vector<Tensor>{node.graph.AddOp("Maximum", {below, node.inputs[1]}, {}, node.name)};
}

// The old op Concat, whose first input is the axis.
ImportOutputs ConvertConcat(const ImportNode& node) {
  if (node.inputs.empty())
    return InvalidArgument("Concat needs an axis and at least one tensor, but has no inputs");
  std::vector<Tensor> inputs = node.inputs;
  // ConcatV2 has the axis last.
  std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
  return std::vector<Tensor>{node.graph.AddOp("ConcatV2", std::move(inputs), {}, node.name)};
}

ImportOutputs ConvertEinsum(const ImportNode& node) {
  return std::vector<Tensor>{Einsum(node.attrs.s("equation"), node.inputs, node.name)};
}

// Gather along axis 0. Also ResourceGather, whose variable is imported as its value.
ImportOutputs ConvertGather(const ImportNode& node) {
  return std::vector<Tensor>{OpBuilder("GatherV2", node.name)
                                 .Input(node.inputs[0])
                                 .Input(node.inputs[1])
                                 .Int("axis", 0)
                                 .Attr("batch_dims", int64_t{0})
                                 .Build()};
}

ImportOutputs ConvertInTopK(const ImportNode& node) {
  // InTopKV2 wants k in the dtype of the targets.
  const DType type = node.inputs[1].dtype() == DType::kInt64 ? DType::kInt64 : DType::kInt32;
  return std::vector<Tensor>{OpBuilder("InTopKV2", node.name)
                                 .Input(node.inputs[0])
                                 .Input(node.inputs[1])
                                 .Const("k", Array::Scalar(node.attrs.i("k")).Cast(type))
                                 .Build()};
}

// The values of the first input that are not in the second, and their places. tf.tensordot computes
// axes with it, from shapes. The number of the values has to be known here.
ImportOutputs ConvertListDiff(const ImportNode& node) {
  const std::optional<Array> all = ConstantValue(node.inputs[0]);
  const std::optional<Array> without = ConstantValue(node.inputs[1]);
  if (!all || !without || !IsInteger(all->dtype()))
    return Unimplemented("only lists of integers that do not change are supported");
  std::vector<int64_t> kept, places;
  for (int64_t i = 0; i < all->num_elements(); ++i) {
    const auto value = static_cast<int64_t>(all->AsDouble(i));
    bool found = false;
    for (int64_t k = 0; k < without->num_elements(); ++k)
      found = found || static_cast<int64_t>(without->AsDouble(k)) == value;
    if (found) continue;
    kept.push_back(value);
    places.push_back(i);
  }
  const auto list = [&](const std::vector<int64_t>& values, DType dtype, const char* name) {
    const auto count = static_cast<int64_t>(values.size());
    const Array array = Array::FromSpan<int64_t>({count}, absl::MakeConstSpan(values));
    return node.graph.AddConst(array.Cast(dtype), absl::StrCat(node.name, name));
  };
  return std::vector<Tensor>{list(kept, all->dtype(), "/out"),
                             list(places, node.attrs.dtype("out_idx"), "/idx")};
}

bool IsConstant(const Tensor& tensor, double value) {
  if (tensor.node()->op() != "Const" || tensor.dtype() == DType::kString) return false;
  const Array& constant = tensor.node()->attrs().get<Array>("value");
  return constant.num_elements() == 1 && constant.AsDouble(0) == value;
}

// The later versions (V2, V3), which can also set other diagonals. Only the main one is supported.
ImportOutputs ConvertMatrixDiag(const ImportNode& node) {
  const Tensor& diagonal = node.inputs[0];
  const auto size = diagonal.rank() > 0 ? static_cast<double>(diagonal.dim(-1)) : 0;
  const auto square = [&](size_t i) {
    return IsConstant(node.inputs[i], -1) || IsConstant(node.inputs[i], size);
  };
  if (!IsConstant(node.inputs[1], 0) || !square(2) || !square(3) || !IsConstant(node.inputs[4], 0))
    return Unimplemented(
        "only the main diagonal of a square matrix is supported, with zeros elsewhere");
  return std::vector<Tensor>{node.graph.AddOp("MatrixDiag", {diagonal}, {}, node.name)};
}

ImportOutputs ConvertMatrixDiagPart(const ImportNode& node) {
  // Input 1 is the number of the diagonal, above the main one if it is positive.
  if (!IsConstant(node.inputs[1], 0)) return Unimplemented("only the main diagonal is supported");
  return std::vector<Tensor>{node.graph.AddOp("MatrixDiagPart", {node.inputs[0]}, {}, node.name)};
}

// The old op Select: it does not broadcast, but accepts one condition for each row.
ImportOutputs ConvertSelect(const ImportNode& node) {
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

ImportOutputs ConvertShapeN(const ImportNode& node) {
  std::vector<Tensor> shapes;
  for (const Tensor& input : node.inputs)
    shapes.push_back(node.graph.AddOp("Shape", {input}, node.attrs, node.name));
  return shapes;
}

// ChannelSums has a matrix of all pairs of channels.
absl::Status CheckChannels(const Tensor& x) {
  constexpr int64_t kMaxChannels = 8192;
  if (x.rank() == 4 && x.dim(3) <= kMaxChannels) return absl::OkStatus();
  return InvalidArgument("takes [N,H,W,C] with at most ", kMaxChannels, " channels, not ",
                         x.spec().ToString());
}

// For each channel, the sum over those at most depth_radius away.
Tensor ChannelSums(const ImportNode& node, const Tensor& x) {
  const int64_t channels = x.dim(-1), radius = node.attrs.i("depth_radius");
  Array near(DType::kFloat32, {channels, channels});
  for (int64_t i = 0; i < channels; ++i)
    for (int64_t k = 0; k < channels; ++k)
      near.data<float>()[i * channels + k] = std::abs(i - k) <= radius ? 1.0F : 0.0F;
  const Tensor rows = Reshape(x, Shape{x.dim(0) * x.dim(1) * x.dim(2), channels});
  const Tensor sums = MatMul(rows, node.graph.AddConst(near.Cast(x.dtype()), node.name + "/near"));
  return Reshape(sums, x.shape());
}

// Local response normalization: bias + alpha * the sum of the squares of the channels at most
// depth_radius away.
Tensor ResponseNorm(const ImportNode& node, const Tensor& x) {
  return Add(Multiply(ChannelSums(node, Square(x)), node.attrs.f("alpha")), node.attrs.f("bias"));
}

// Source: TF 2.15 lrn_op.cc. y = x * norm^-beta.
ImportOutputs ConvertLrn(const ImportNode& node) {
  const Tensor& x = node.inputs[0];
  EST_RETURN_IF_ERROR(CheckChannels(x));
  return std::vector<Tensor>{
      Multiply(x, Pow(ResponseNorm(node, x), -node.attrs.f("beta")), node.name)};
}

// dx = dy * norm^-beta - 2 * alpha * beta * x * sums(dy * y / norm)
ImportOutputs ConvertLrnGrad(const ImportNode& node) {
  const Tensor &dy = node.inputs[0], &x = node.inputs[1], &y = node.inputs[2];
  EST_RETURN_IF_ERROR(CheckChannels(x));
  const float beta = node.attrs.f("beta");
  const Tensor norm = ResponseNorm(node, x);
  const Tensor others = Multiply(x, ChannelSums(node, Divide(Multiply(dy, y), norm)));
  return std::vector<Tensor>{Subtract(Multiply(dy, Pow(norm, -beta)),
                                      Multiply(others, 2 * node.attrs.f("alpha") * beta),
                                      node.name)};
}

// Blocks of channels become blocks of pixels, or with `to_depth` the other way round.
ImportOutputs ConvertBlocks(const ImportNode& node, bool to_depth) {
  const Tensor& x = node.inputs[0];
  const int64_t block = node.attrs.i("block_size");
  const int64_t pixels = to_depth ? block : 1, channels = to_depth ? 1 : block * block;
  if (x.rank() != 4 || block < 1 || block > kMaxBlock || x.dim(1) % pixels != 0 ||
      x.dim(2) % pixels != 0 || x.dim(3) % channels != 0)
    return InvalidArgument("blocks of ", block, " do not divide ", x.spec().ToString());
  const int64_t n = x.dim(0), h = x.dim(1) / pixels, w = x.dim(2) / pixels, c = x.dim(3) / channels;
  // The axes in between are swapped in both directions, by the same transposition.
  const Shape apart = to_depth ? Shape{n, h, block, w, block, c} : Shape{n, h, w, block, block, c};
  const Shape joined =
      to_depth ? Shape{n, h, w, block * block * c} : Shape{n, h * block, w * block, c};
  return std::vector<Tensor>{
      Reshape(Transpose(Reshape(x, apart), {0, 1, 3, 2, 4, 5}), joined, node.name)};
}
ImportOutputs ConvertDepthToSpace(const ImportNode& node) { return ConvertBlocks(node, false); }
ImportOutputs ConvertSpaceToDepth(const ImportNode& node) { return ConvertBlocks(node, true); }

ImportOutputs ConvertTopK(const ImportNode& node) {
  return OpBuilder("TopKV2", node.name)
      .Input(node.inputs[0])
      .Int("k", node.attrs.i("k"))
      .Attr("sorted", node.attrs.b("sorted"))
      .BuildN(2);
}

}  // namespace

std::vector<Tensor> AddOutputs(Graph& graph, absl::string_view op, std::vector<Tensor> inputs,
                               Attrs attrs, absl::string_view name) {
  Node* const added = graph.AddNode(op, std::move(inputs), std::move(attrs), name);
  std::vector<Tensor> outputs;
  for (int i = 0; added != nullptr && i < added->num_outputs(); ++i)
    outputs.emplace_back(&graph, added, i);
  return outputs;
}

void AddOpConversions(ImportRules& rules) {
  for (const char* op : {"DebugGradientIdentity", "Identity", "PlaceholderWithDefault",
                         "PreventGradient", "ReadVariableOp", "Snapshot", "StopGradient"})
    rules[op] = {"", "", PassThrough, 1};
  rules["IdentityN"] = {"", "", PassThrough, -1};
  rules["ClipByValue"] = {"", "", ConvertClipByValue, 3};
  rules["Concat"] = {"", "", ConvertConcat, -1};
  rules["Einsum"] = {"", "equation:s", ConvertEinsum, -1};
  rules["EnsureShape"] = {"EnsureShape", "shape:p"};
  rules["Gather"] = {"", "", ConvertGather, 2};
  rules["InTopK"] = {"", "k:i", ConvertInTopK, 2};
  constexpr absl::string_view kBlocks = "block_size:i data_format:s=NHWC!";
  rules["DepthToSpace"] = {"", kBlocks, ConvertDepthToSpace, 1};
  rules["SpaceToDepth"] = {"", kBlocks, ConvertSpaceToDepth, 1};
  constexpr absl::string_view kLrn = "depth_radius:i=5 bias:f=1 alpha:f=1 beta:f=0.5";
  rules["LRN"] = {"", kLrn, ConvertLrn, 1};
  rules["LRNGrad"] = {"", kLrn, ConvertLrnGrad, 3};
  rules["ListDiff"] = {"", "out_idx:t=int32", ConvertListDiff, 2};
  for (const char* op : {"MatrixDiagV2", "MatrixDiagV3"})
    rules[op] = {"", "", ConvertMatrixDiag, 5};
  for (const char* op : {"MatrixDiagPartV2", "MatrixDiagPartV3"})
    rules[op] = {"", "", ConvertMatrixDiagPart, 3};
  rules["ResourceGather"] = {"", "batch_dims:i=0!", ConvertGather, 2};
  rules["Select"] = {"", "", ConvertSelect, 3};
  rules["ShapeN"] = {"", "out_type:t=int32", ConvertShapeN, -1};
  rules["TopK"] = {"", "k:i sorted:b=true", ConvertTopK, 1};
}

}  // namespace estimator
