#include "estimator/graphdef/import/gradient_conversions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"

namespace estimator {
namespace {

constexpr int64_t kMaxComputedElements = 1 << 20;  // of a constant that this file computes

Tensor ConstIn(const ImportNode& node, const Array& value) {
  return node.graph.AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}}, node.name);
}

Tensor IntsLike(const ImportNode& node, const std::vector<int64_t>& values, DType dtype) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return ConstIn(node, Array::FromSpan<int64_t>(shape, values).Cast(dtype));
}

// The axes along which each of two shapes is broadcast.
// Source: TF 2.15 bcast.h, BCast::grad_x_reduce_idx.
ImportOutputs ConvertBroadcastGradientArgs(const ImportNode& node) {
  std::vector<int64_t> shapes[2], axes[2];
  for (size_t i = 0; i < 2; ++i) {
    EST_ASSIGN_OR_RETURN(shapes[i], ConstantIntsOf(node.inputs[i]));
  }
  const size_t rank = std::max(shapes[0].size(), shapes[1].size());
  if (rank > 1024) return InvalidArgument("a shape of more than 1024 axes");
  // Broadcasting aligns the last axes, so the shorter shape gets axes of 1 in front.
  for (std::vector<int64_t>& shape : shapes) shape.insert(shape.begin(), rank - shape.size(), 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t x = shapes[0][axis], y = shapes[1][axis];
    if (x != y && x != 1 && y != 1) {
      return InvalidArgument("sizes ", x, " and ", y, " of axis ", axis, " do not broadcast");
    }
    // If both are 1, TensorFlow lists the axis for both. A sum along it would change nothing.
    if (x == 1 && y != 1) axes[0].push_back(static_cast<int64_t>(axis));
    if (y == 1 && x != 1) axes[1].push_back(static_cast<int64_t>(axis));
  }
  const DType dtype = node.inputs[0].dtype();
  return std::vector<Tensor>{IntsLike(node, axes[0], dtype), IntsLike(node, axes[1], dtype)};
}

// The shape of two that are broadcast, which are known as all shapes are.
ImportOutputs ConvertBroadcastArgs(const ImportNode& node) {
  std::vector<int64_t> result;
  for (const Tensor& input : node.inputs) {
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ConstantIntsOf(input));
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    for (size_t i = 1; i <= shape.size(); ++i) {
      int64_t& size = result[result.size() - i];
      const int64_t other = shape[shape.size() - i];
      if (size != other && size != 1 && other != 1)
        return InvalidArgument("sizes ", size, " and ", other, " do not broadcast");
      if (size == 1) size = other;
    }
  }
  return std::vector<Tensor>{IntsLike(node, result, node.inputs[0].dtype())};
}

// The place of each input of a Concat in its result. Inputs: the axis, then the shapes.
ImportOutputs ConvertConcatOffset(const ImportNode& node) {
  if (node.inputs.size() < 2) return InvalidArgument("takes an axis and shapes");
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ConstantIntsOf(node.inputs[0]));
  std::vector<Tensor> offsets;
  int64_t offset = 0;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ConstantIntsOf(node.inputs[i]));
    const auto rank = static_cast<int64_t>(shape.size());
    if (axes.size() != 1 || axes[0] < -rank || axes[0] >= rank)
      return InvalidArgument("the axis is out of range");
    const auto axis = static_cast<size_t>(axes[0] < 0 ? axes[0] + rank : axes[0]);
    std::vector<int64_t> place(shape.size(), 0);
    place[axis] = offset;
    offset += shape[axis];
    if (shape[axis] < 0 || offset > (int64_t{1} << 40))
      return InvalidArgument("the sizes are too large");
    offsets.push_back(IntsLike(node, place, node.inputs[i].dtype()));
  }
  return offsets;
}

// result[indices[k][i]] = data[k][i], for numbers that are known.
ImportOutputs ConvertDynamicStitch(const ImportNode& node) {
  const size_t n = node.inputs.size() / 2;
  if (n == 0 || node.inputs.size() % 2 != 0)
    return InvalidArgument("takes as many indices as data");
  std::map<int64_t, int64_t> values;
  for (size_t k = 0; k < n; ++k) {
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, ConstantIntsOf(node.inputs[k]));
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> data, ConstantIntsOf(node.inputs[n + k]));
    // Shapes are built of single sizes; stitching rows of data would need a kernel.
    if (indices.size() != data.size())
      return Unimplemented("only data of one number for each index is supported");
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= kMaxComputedElements)
        return InvalidArgument("index ", indices[i], " is out of range");
      // As in TensorFlow, the later of two values for one index counts.
      values[indices[i]] = data[i];
    }
  }
  std::vector<int64_t> result(values.empty() ? 0 : static_cast<size_t>(values.rbegin()->first) + 1,
                              0);
  for (const auto& [index, value] : values) result[static_cast<size_t>(index)] = value;
  return std::vector<Tensor>{IntsLike(node, result, node.inputs[n].dtype())};
}

// Gradients of unary functions, from the result y and the gradient of it.
ImportOutputs ConvertSqrtGrad(const ImportNode& node) {
  return std::vector<Tensor>{Divide(node.inputs[1] * 0.5, node.inputs[0])};
}
ImportOutputs ConvertRsqrtGrad(const ImportNode& node) {
  const Tensor& y = node.inputs[0];
  return std::vector<Tensor>{node.inputs[1] * -0.5 * y * y * y};
}
ImportOutputs ConvertReciprocalGrad(const ImportNode& node) {
  const Tensor& y = node.inputs[0];
  return std::vector<Tensor>{Negate(node.inputs[1]) * y * y};
}

// An early op of batch normalization: (x - mean) / sqrt(variance + epsilon) * gamma + beta, without
// gamma if the result is not scaled. Its gradient takes no beta, but the gradient of the result.
// Source: TF 2.15 batch_norm_op.h.
struct GlobalNormalization {
  explicit GlobalNormalization(const ImportNode& node)
      : scaled(node.attrs.b("scale_after_normalization")),
        centered(node.inputs[0] - node.inputs[1]),
        inverse(Rsqrt(node.inputs[2] + node.attrs.f("variance_epsilon"))) {}
  const bool scaled;
  const Tensor centered, inverse;
};

ImportOutputs ConvertGlobalNormalization(const ImportNode& node) {
  const GlobalNormalization of(node);
  const Tensor factor = of.scaled ? of.inverse * node.inputs[4] : of.inverse;
  return std::vector<Tensor>{of.centered * factor + node.inputs[3]};
}

ImportOutputs ConvertGlobalNormalizationGrad(const ImportNode& node) {
  const GlobalNormalization of(node);
  const Tensor &gamma = node.inputs[3], &grad = node.inputs[4];
  const ReduceAxes rows({0, 1, 2});
  const Tensor factor = of.scaled ? of.inverse * gamma : of.inverse;
  const Tensor beta_grad = ReduceSum(grad, rows), sum = ReduceSum(grad * of.centered, rows);
  return std::vector<Tensor>{grad * factor, Negate(beta_grad) * factor,
                             sum * factor * Square(of.inverse) * -0.5, beta_grad,
                             of.scaled ? sum * of.inverse : ZerosLike(gamma)};
}

// The older forms have no reserve_space_3, which the CPU does not use.
ImportOutputs ConvertBatchNormGrad(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  // Any tensor of its type serves.
  inputs.push_back(inputs[4]);
  return AddOutputs(node.graph, "FusedBatchNormGradV3", inputs, node.attrs, node.name);
}

}  // namespace

void AddGradientConversions(ImportRules& rules) {
  rules["AccumulateNV2"] = {"AddN", ""};
  constexpr absl::string_view kNorm = "variance_epsilon:f scale_after_normalization:b";
  rules["BatchNormWithGlobalNormalization"] = {"", kNorm, ConvertGlobalNormalization, 5};
  rules["BatchNormWithGlobalNormalizationGrad"] = {"", kNorm, ConvertGlobalNormalizationGrad, 5};
  rules["BroadcastArgs"] = {"", "", ConvertBroadcastArgs, 2};
  rules["BroadcastGradientArgs"] = {"", "", ConvertBroadcastGradientArgs, 2};
  rules["ConcatOffset"] = {"", "", ConvertConcatOffset, -1};
  rules["DynamicStitch"] = {"", "", ConvertDynamicStitch, -1};
  rules["ParallelDynamicStitch"] = rules["DynamicStitch"];
  for (const char* op : {"FusedBatchNormGrad", "FusedBatchNormGradV2"}) {
    rules[op] = {"", "epsilon:f=0.0001 is_training:b=true data_format:s=NHWC!",
                 ConvertBatchNormGrad, 5};
  }
  rules["InvGrad"] = {"", "", ConvertReciprocalGrad, 2};
  rules["LogicalXor"] = {"NotEqual", ""};
  rules["ReciprocalGrad"] = rules["InvGrad"];
  rules["RsqrtGrad"] = {"", "", ConvertRsqrtGrad, 2};
  rules["SqrtGrad"] = {"", "", ConvertSqrtGrad, 2};
}

}  // namespace estimator
