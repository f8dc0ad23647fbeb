#include "estimator/kernels/op_traits.h"

#include <algorithm>
#include <unordered_map>

#include "absl/strings/match.h"

namespace estimator {
namespace {

using Table = std::unordered_map<std::string, OpTraits>;
using enum OpTraits::Failure;
using enum OpTraits::Layout;

// One row for each op.
const Table& Rows() {
  static const auto& rows = *new Table{
      // Views.
      {"Reshape", {.view = true, .failure = kNever}},
      {"Identity", {.view = true, .failure = kNever}},
      {"StopGradient", {.view = true, .failure = kNever}},
      {"ExpandDims", {.view = true, .failure = kNever}},
      {"Squeeze", {.view = true, .failure = kNever}},

      // Convolutions, matrix products and their gradients. Depthwise ones compute too little to pay for a
      // reorder, so they follow their inputs.
      {"Conv2D",
       {.layout = kChooses,
        .image_inputs = {0},
        .image_outputs = {0},
        .factors = {0, 1},
        .on_matrix_unit = true,
        .with_bias = "_FusedConv2D"}},
      {"_FusedConv2D",
       {.layout = kChooses, .image_inputs = {0, 3}, .image_outputs = {0}, .factors = {0, 1}}},
      {"Conv2DBackpropInput",
       {.layout = kChooses,
        .image_inputs = {2},
        .image_outputs = {0},
        .factors = {1, 2},
        .on_matrix_unit = true}},
      {"Conv2DBackpropFilter",
       {.layout = kChooses,
        .image_inputs = {0, 2},
        .factors = {0, 2},
        .sums_in_float32 = true,
        .on_matrix_unit = true}},
      {"_FusedConv2DBackpropFilter",
       {.layout = kChooses, .image_inputs = {0, 1}, .factors = {0, 1}}},
      {"_FusedConv2DMaxPool",
       {.layout = kChooses, .image_inputs = {0}, .image_outputs = {0, 1}, .factors = {0, 1}}},
      {"_Conv2DMaxPoolBackpropInput",
       {.layout = kChooses, .image_inputs = {1, 2}, .image_outputs = {0}, .factors = {0, 1}}},
      {"_Conv2DMaxPoolBackpropFilter",
       {.layout = kChooses, .image_inputs = {0, 1, 2}, .factors = {0, 1}}},
      {"DepthwiseConv2dNative",
       {.layout = kFollows,
        .image_inputs = {0},
        .image_outputs = {0},
        .on_matrix_unit = true,
        .with_bias = "_FusedDepthwiseConv2dNative"}},
      {"_FusedDepthwiseConv2dNative",
       {.layout = kFollows, .image_inputs = {0, 3}, .image_outputs = {0}}},
      {"DepthwiseConv2dNativeBackpropInput",
       {.layout = kFollows, .image_inputs = {2}, .image_outputs = {0}, .on_matrix_unit = true}},
      {"DepthwiseConv2dNativeBackpropFilter",
       {.layout = kFollows, .image_inputs = {0, 2}, .on_matrix_unit = true}},
      {"MatMul",
       {.factors = {0, 1},
        .matrix_product = true,
        .sums_in_float32 = true,
        .on_matrix_unit = true,
        .with_bias = "_FusedMatMul"}},
      {"_FusedMatMul", {.factors = {0, 1}, .matrix_product = true, .sums_in_float32 = true}},
      {"BatchMatMulV2",
       {.factors = {0, 1},
        .matrix_product = true,
        .sums_in_float32 = true,
        .on_matrix_unit = true}},

      // Other ops with images. They follow their inputs, too.
      {"MaxPool", {.layout = kFollows, .image_inputs = {0}, .image_outputs = {0}}},
      {"AvgPool", {.layout = kFollows, .image_inputs = {0}, .image_outputs = {0}}},
      {"BiasAdd", {.layout = kFollows, .image_inputs = {0}, .image_outputs = {0}}},
      {"_MaxPoolWithArgmax", {.layout = kFollows, .image_inputs = {0}, .image_outputs = {0, 1}}},
      {"MaxPoolGrad", {.layout = kFollows, .image_inputs = {0, 1, 2}, .image_outputs = {0}}},
      {"_MaxPoolGradWithArgmax",
       {.layout = kFollows, .image_inputs = {0, 1, 2}, .image_outputs = {0}}},
      {"AvgPoolGrad", {.layout = kFollows, .image_inputs = {1}, .image_outputs = {0}}},
      {"BiasAddGrad", {.layout = kFollows, .image_inputs = {0}, .sums_in_float32 = true}},
      {"FusedBatchNormV3", {.layout = kFollows, .image_inputs = {0}, .image_outputs = {0}}},
      {"_FusedBatchNormEx", {.layout = kFollows, .image_inputs = {0, 5}, .image_outputs = {0}}},
      {"FusedBatchNormGradV3", {.layout = kFollows, .image_inputs = {0, 1}, .image_outputs = {0}}},
      {"_FusedBatchNormGradEx",
       {.layout = kFollows, .image_inputs = {0, 1, 7}, .image_outputs = {0, 5}}},

      // Element-wise ops. Integers are divided by 0 with an error.
      {"AddV2", {.failure = kNever, .elementwise = true, .commutative = true}},
      {"AddN", {.failure = kNever, .elementwise = true}},
      {"Sub", {.failure = kNever, .elementwise = true}},
      {"Mul", {.failure = kNever, .elementwise = true, .commutative = true}},
      {"RealDiv", {.failure = kNeverOfFloats, .elementwise = true}},
      {"Maximum", {.failure = kNever, .elementwise = true}},
      {"Minimum", {.failure = kNever, .elementwise = true}},
      {"Pow", {.elementwise = true}},
      {"Neg", {.failure = kNever, .elementwise = true}},
      {"Abs", {.failure = kNever, .elementwise = true}},
      {"Square", {.failure = kNever, .elementwise = true}},
      {"Sqrt", {.failure = kNever, .elementwise = true}},
      {"Rsqrt", {.failure = kNever, .elementwise = true}},
      {"Exp", {.failure = kNever, .elementwise = true}},
      {"Log", {.failure = kNever, .elementwise = true}},
      {"Tanh", {.failure = kNever, .elementwise = true, .activation = true}},
      {"Sigmoid", {.failure = kNever, .elementwise = true, .activation = true}},
      {"Erf", {.elementwise = true}},
      {"Relu", {.elementwise = true, .activation = true}},
      {"Relu6", {.elementwise = true, .activation = true}},
      {"ReluGrad", {.elementwise = true}},
      {"Relu6Grad", {.elementwise = true}},
      {"TanhGrad", {.elementwise = true}},
      {"SigmoidGrad", {.elementwise = true}},
      {"Elu", {.elementwise = true, .activation = true}},
      {"EluGrad", {.elementwise = true}},
      {"Selu", {.elementwise = true, .activation = true}},
      {"SeluGrad", {.elementwise = true}},
      {"LeakyRelu", {.elementwise = true, .activation = true}},
      {"LeakyReluGrad", {.elementwise = true}},
      {"Softplus", {.elementwise = true, .activation = true}},
      {"SoftplusGrad", {.elementwise = true}},
      {"Softsign", {.elementwise = true, .activation = true}},
      {"SoftsignGrad", {.elementwise = true}},
      {"_Gelu", {.failure = kNever, .elementwise = true}},
      {"_GeluGrad", {.failure = kNever, .elementwise = true}},
      {"_GeluApproximate", {.failure = kNever, .elementwise = true}},
      {"_GeluApproximateGrad", {.failure = kNever, .elementwise = true}},
      {"Greater", {.elementwise = true}},
      {"Less", {.elementwise = true}},
      {"LessEqual", {.elementwise = true}},
      {"GreaterEqual", {.elementwise = true}},
      {"SelectV2", {.failure = kNever, .elementwise = true}},
      {"Reciprocal", {.elementwise = true}},
      {"Cast", {.failure = kNever, .elementwise = true}},
      {"SquaredDifference", {.elementwise = true}},
      {"_FusedElementwise", {.failure = kNever, .elementwise = true}},

      // Others.
      {"Sign", {.failure = kNever}},
      {"Fill", {.failure = kNever}},
      {"BroadcastTo", {.failure = kNever}},
      {"Transpose", {.failure = kNever}},
      {"_Copy", {.failure = kNever}},
      {"_UpdateSweep", {.failure = kNever}},
      {"Sum", {.reduction = true, .sums_in_float32 = true}},
      {"Mean", {.reduction = true, .sums_in_float32 = true}},
      {"Max", {.reduction = true}},
      {"Min", {.reduction = true}},
      {"Prod", {.reduction = true}},
  };
  return rows;
}

}  // namespace

const OpTraits& TraitsOf(const std::string& op) {
  static const auto& none = *new OpTraits();
  static const auto& update = *new OpTraits{.failure = kNever};
  const auto it = Rows().find(op);
  if (it != Rows().end()) return it->second;
  return absl::StartsWith(op, "Apply") ? update : none;
}

std::vector<std::string> OpsWithTraits() {
  std::vector<std::string> ops;
  for (const auto& [op, traits] : Rows()) ops.push_back(op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

}  // namespace estimator
