#include "estimator/graphdef/import/op_conversions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/einsum.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/rearrange.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

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

// For each row of the first input, its values that are not in that row of the second one, sorted.
// Losses with weights compare shapes with it, which are rows [1, n].
ImportOutputs ConvertSetDifference(const ImportNode& node) {
  if (node.attrs.s("set_operation") != "a-b")
    return Unimplemented("only the set operation a-b is supported");
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> a, ConstantIntsOf(node.inputs[0]));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> b, ConstantIntsOf(node.inputs[1]));
  for (const Tensor& input : node.inputs) {
    if (input.rank() != 2 || input.dim(0) != 1)
      return Unimplemented("only rows [1,n] are supported, not ", input.spec().ToString());
  }
  std::set<int64_t> left(a.begin(), a.end());
  for (const int64_t value : b) left.erase(value);
  const auto count = static_cast<int64_t>(left.size());
  Array indices(DType::kInt64, {count, 2});
  for (int64_t i = 0; i < count; ++i) {
    indices.data<int64_t>()[2 * i] = 0;
    indices.data<int64_t>()[2 * i + 1] = i;
  }
  const std::vector<int64_t> values(left.begin(), left.end());
  return std::vector<Tensor>{
      node.graph.AddConst(indices, absl::StrCat(node.name, "/indices")),
      node.graph.AddConst(Array::FromSpan<int64_t>({count}, values).Cast(node.inputs[0].dtype()),
                          node.name),
      node.graph.AddConst(Array::Of<int64_t>({2}, {1, count}), absl::StrCat(node.name, "/shape"))};
}

// The logarithm of the gamma function of numbers that are known, as in the constants of
// distributions.
ImportOutputs ConvertLgamma(const ImportNode& node) {
  const std::optional<Array> x = ConstantValue(node.inputs[0]);
  if (!x || (x->dtype() != DType::kFloat32 && x->dtype() != DType::kFloat64))
    return Unimplemented("only of float32 and float64 numbers that do not change");
  Array y = x->Cast(DType::kFloat64).Clone();
  for (double& value : y.values<double>()) value = std::lgamma(value);
  return std::vector<Tensor>{node.graph.AddConst(y.Cast(x->dtype()), node.name)};
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

// The older ops of tensors of any rank. A matrix and its diagonal are those of the later ones.
template <int kRank>
ImportOutputs ConvertDiag(const ImportNode& node) {
  if (node.inputs[0].rank() != kRank)
    return Unimplemented("only a vector and a square matrix are supported, not ",
                         node.inputs[0].spec().ToString());
  return std::vector<Tensor>{node.graph.AddOp(kRank == 1 ? "MatrixDiag" : "MatrixDiagPart",
                                              {node.inputs[0]}, {}, node.name)};
}

// Whether a sampler gives the classes that draws no class twice.
bool AreUnique(const Tensor& samples) {
  const Node* sampler = samples.node();
  while (PassesReference(sampler->op())) sampler = sampler->input(0).node();
  return sampler->attrs().has("unique") && sampler->attrs().b("unique");
}

// The places (example, sample) at which a sample is one of the example's true classes. Their number
// is not static: the outputs have all places, and the weight of the others is 0. Losses add the
// weights to logits (SparseToDense).
ImportOutputs ConvertAccidentalHits(const ImportNode& node) {
  const Tensor &classes = node.inputs[0], &samples = node.inputs[1];
  if (classes.rank() != 2 || samples.rank() != 1)
    return InvalidArgument("takes a matrix of true classes and a vector of samples");
  const int64_t rows = classes.dim(0), count = samples.dim(0);
  const Shape all{rows * count};
  constexpr int64_t kMaxPlaces = int64_t{1} << 26;  // they are stored
  if (!HasElementsAtMost({std::max(rows, count), count}, kMaxPlaces))
    return InvalidArgument(rows, " examples and ", count, " samples are too many");
  Array row(DType::kInt32, all), sample(DType::kInt64, all);
  for (int64_t i = 0; i < rows * count; ++i) {
    row.data<int32_t>()[i] = static_cast<int32_t>(i / count);
    sample.data<int64_t>()[i] = i % count;
  }
  Tensor hits = ReduceAny(Equal(ExpandDims(classes, 2), samples), ReduceAxes({1}));
  if (!AreUnique(samples)) {
    // Of a class that is sampled again, TensorFlow finds the last place only.
    Array later(DType::kBool, {count, count});
    for (int64_t i = 0; i < count * count; ++i) later.data<bool>()[i] = i % count > i / count;
    const Tensor same = LogicalAnd(Equal(ExpandDims(samples, 1), samples), Constant(later));
    hits = LogicalAnd(hits, LogicalNot(ReduceAny(same, ReduceAxes({1}))));
  }
  const Tensor weights = Where(hits, std::numeric_limits<float>::lowest(), 0.0f);
  return std::vector<Tensor>{node.graph.AddConst(row, absl::StrCat(node.name, "/indices")),
                             node.graph.AddConst(sample, absl::StrCat(node.name, "/ids")),
                             Reshape(weights, all, node.name)};
}

ImportOutputs ConvertSparseToDense(const ImportNode& node) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ConstantIntsOf(node.inputs[1]));
  const Shape shape(dims);
  const Tensor &indices = node.inputs[0], &values = node.inputs[2];
  if (indices.rank() == 2 && values.rank() == 1)
    return std::vector<Tensor>{
        TensorScatterUpdate(BroadcastTo(node.inputs[3], shape), indices, values, node.name)};
  return Unimplemented("only indices [n,rank] and values [n] are supported, not ",
                       indices.spec().ToString(), " and ", values.spec().ToString());
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

LocalResponseNormalizationOptions LrnOptionsOf(const ImportNode& node) {
  return {.depth_radius = node.attrs.i("depth_radius"),
          .bias = node.attrs.f("bias"),
          .alpha = node.attrs.f("alpha"),
          .beta = node.attrs.f("beta"),
          .name = node.name};
}
ImportOutputs ConvertLrn(const ImportNode& node) {
  return std::vector<Tensor>{LocalResponseNormalization(node.inputs[0], LrnOptionsOf(node))};
}
ImportOutputs ConvertLrnGrad(const ImportNode& node) {
  return std::vector<Tensor>{LocalResponseNormalizationGrad(node.inputs[0], node.inputs[1],
                                                            node.inputs[2], LrnOptionsOf(node))};
}

template <auto kMove>
ImportOutputs ConvertChannelBlocks(const ImportNode& node) {
  return std::vector<Tensor>{kMove(node.inputs[0], node.attrs.i("block_size"), node.name)};
}

// Pairs of numbers, from a matrix [n, 2].
absl::StatusOr<Paddings> PairsOf(const Tensor& tensor) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, ConstantIntsOf(tensor));
  if (numbers.size() % 2 != 0)
    return InvalidArgument("'", tensor.name(), "' is ", tensor.spec().ToString(), ", not pairs");
  Paddings pairs;
  for (size_t i = 0; i < numbers.size(); i += 2) pairs.emplace_back(numbers[i], numbers[i + 1]);
  return pairs;
}

// The older ops have one block size for rows and columns as an attribute.
template <auto kMove>
ImportOutputs ConvertBatchBlocks(const ImportNode& node) {
  const bool old = node.attrs.has("block_size");
  if (node.inputs.size() != (old ? 2 : 3)) return InvalidArgument("takes blocks and margins");
  std::vector<int64_t> blocks;
  if (old) {
    blocks = {node.attrs.i("block_size"), node.attrs.i("block_size")};
  } else {
    EST_ASSIGN_OR_RETURN(blocks, ConstantIntsOf(node.inputs[1]));
  }
  EST_ASSIGN_OR_RETURN(const Paddings margins, PairsOf(node.inputs.back()));
  return std::vector<Tensor>{kMove(node.inputs[0], blocks, margins, node.name)};
}

ImportOutputs ConvertRoll(const ImportNode& node) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> shifts, ConstantIntsOf(node.inputs[1]));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ConstantIntsOf(node.inputs[2]));
  return std::vector<Tensor>{Roll(node.inputs[0], shifts, axes, node.name)};
}

// The product of a sparse matrix, given by places [n, 2], values [n] and a shape, with a dense one.
ImportOutputs ConvertSparseMatMul(const ImportNode& node) {
  const Tensor &places = node.inputs[0], &values = node.inputs[1], &b = node.inputs[3];
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ConstantIntsOf(node.inputs[2]));
  if (dims.size() != 2 || places.rank() != 2 || places.dim(1) != 2 || values.rank() != 1)
    return InvalidArgument("takes places [n,2] and values [n] of a matrix, not ",
                           places.spec().ToString(), " and ", values.spec().ToString());
  const size_t row = node.attrs.b("adjoint_a") ? 1 : 0;
  const int b_axis = node.attrs.b("adjoint_b") ? 1 : 0;
  if (b.rank() != 2 || b.dim(b_axis) != dims[1 - row])
    return InvalidArgument("multiplies a matrix ", Shape(dims).ToString(), " by ",
                           b.spec().ToString());
  const std::vector<Tensor> axes = Unstack(places, 1);
  const Tensor rows = Gather(b_axis == 1 ? Transpose(b) : b, axes[1 - row]);
  return std::vector<Tensor>{
      UnsortedSegmentSum(rows * ExpandDims(values, 1), axes[row], dims[row], node.name)};
}

// TensorFlow's op broadcasts its operands, such as labels [N, 1].
ImportOutputs ConvertSoftmaxLoss(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  const Shape logits = inputs[0].shape(), labels = inputs[1].shape();
  for (size_t i = 0; i < 2 && logits.rank() == 2 && labels.rank() == 2; ++i) {
    const Shape wanted{logits.dim(0) == 1 ? labels.dim(0) : logits.dim(0),
                       logits.dim(1) == 1 ? labels.dim(1) : logits.dim(1)};
    if (inputs[i].shape() != wanted) inputs[i] = BroadcastTo(inputs[i], wanted);
  }
  return AddOutputs(node.graph, "SoftmaxCrossEntropyWithLogits", inputs, {}, node.name);
}

ImportOutputs ConvertTopK(const ImportNode& node) {
  return OpBuilder("TopKV2", node.name)
      .Input(node.inputs[0])
      .Int("k", node.attrs.i("k"))
      .Attr("sorted", node.attrs.b("sorted"))
      .BuildN(2);
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ConstantIntsOf(const Tensor& tensor) {
  if (!tensor.valid()) return InvalidArgument("an input is missing");
  // That of a Const is read as it is: it may be larger than those that ConstantValue computes.
  const bool is_const = tensor.node()->op() == "Const";
  const std::optional<Array> array =
      is_const ? tensor.node()->attrs().get<Array>("value") : ConstantValue(tensor);
  if (!array.has_value())
    return Unimplemented("'", tensor.name(),
                         "' is not known when the graph is built; shapes are static");
  if (array->dtype() != DType::kInt32 && array->dtype() != DType::kInt64)
    return InvalidArgument("'", tensor.name(), "' is ", array->TypeString(), ", not a shape");
  const Array ints = array->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.data<int64_t>(), ints.data<int64_t>() + ints.num_elements());
}

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
  rules["ComputeAccidentalHits"] = {"", "", ConvertAccidentalHits, 2};
  rules["Concat"] = {"", "", ConvertConcat, -1};
  rules["DenseToDenseSetOperation"] = {"", "set_operation:s", ConvertSetDifference, 2};
  rules["Diag"] = {"", "", ConvertDiag<1>, 1};
  rules["DiagPart"] = {"", "", ConvertDiag<2>, 1};
  rules["Einsum"] = {"", "equation:s", ConvertEinsum, -1};
  rules["EnsureShape"] = {"EnsureShape", "shape:p"};
  rules["Gather"] = {"", "", ConvertGather, 2};
  rules["InTopK"] = {"", "k:i", ConvertInTopK, 2};
  constexpr absl::string_view kBlocks = "block_size:i data_format:s=NHWC!";
  rules["DepthToSpace"] = {"", kBlocks, ConvertChannelBlocks<DepthToSpace>, 1};
  rules["SpaceToDepth"] = {"", kBlocks, ConvertChannelBlocks<SpaceToDepth>, 1};
  rules["SpaceToBatchND"] = {"", "", ConvertBatchBlocks<SpaceToBatch>, 3};
  rules["BatchToSpaceND"] = {"", "", ConvertBatchBlocks<BatchToSpace>, 3};
  rules["SpaceToBatch"] = {"", "block_size:i", ConvertBatchBlocks<SpaceToBatch>, 2};
  rules["BatchToSpace"] = {"", "block_size:i", ConvertBatchBlocks<BatchToSpace>, 2};
  rules["Roll"] = {"", "", ConvertRoll, 3};
  constexpr absl::string_view kLrn = "depth_radius:i=5 bias:f=1 alpha:f=1 beta:f=0.5";
  rules["LRN"] = {"", kLrn, ConvertLrn, 1};
  rules["LRNGrad"] = {"", kLrn, ConvertLrnGrad, 3};
  rules["Lgamma"] = {"", "", ConvertLgamma, 1};
  rules["ListDiff"] = {"", "out_idx:t=int32", ConvertListDiff, 2};
  for (const char* op : {"MatrixDiagV2", "MatrixDiagV3"})
    rules[op] = {"", "", ConvertMatrixDiag, 5};
  for (const char* op : {"MatrixDiagPartV2", "MatrixDiagPartV3"})
    rules[op] = {"", "", ConvertMatrixDiagPart, 3};
  rules["ResourceGather"] = {"", "batch_dims:i=0!", ConvertGather, 2};
  rules["Select"] = {"", "", ConvertSelect, 3};
  rules["ShapeN"] = {"", "out_type:t=int32", ConvertShapeN, -1};
  rules["SoftmaxCrossEntropyWithLogits"] = {"", "", ConvertSoftmaxLoss, 2};
  rules["SparseTensorDenseMatMul"] = {"", "adjoint_a:b=false adjoint_b:b=false",
                                      ConvertSparseMatMul, 4};
  rules["SparseToDense"] = {"", "", ConvertSparseToDense, 4};
  rules["TopK"] = {"", "k:i sorted:b=true", ConvertTopK, 1};
}

}  // namespace estimator
