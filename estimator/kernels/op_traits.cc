#include "estimator/kernels/op_traits.h"

#include <unordered_map>
#include <utility>

#include "absl/strings/match.h"

namespace estimator {
namespace {

using Failure = OpTraits::Failure;
using Layout = OpTraits::Layout;

OpTraits Images(Layout layout, std::vector<int> inputs, std::vector<int> outputs) {
  return {.layout = layout, .image_inputs = std::move(inputs), .image_outputs = std::move(outputs)};
}

std::unordered_map<std::string, OpTraits> MakeTable() {
  std::unordered_map<std::string, OpTraits> table = {
      {"Conv2D", Images(Layout::kChooses, {0}, {0})},
      {"_FusedConv2D", Images(Layout::kChooses, {0, 3}, {0})},
      {"Conv2DBackpropInput", Images(Layout::kChooses, {2}, {0})},
      {"Conv2DBackpropFilter", Images(Layout::kChooses, {0, 2}, {})},
      {"_FusedConv2DBackpropFilter", Images(Layout::kChooses, {0, 1}, {})},
      {"_FusedConv2DMaxPool", Images(Layout::kChooses, {0}, {0, 1})},
      {"_Conv2DMaxPoolBackpropInput", Images(Layout::kChooses, {1, 2}, {0})},
      {"_Conv2DMaxPoolBackpropFilter", Images(Layout::kChooses, {0, 1, 2}, {})},
      // These compute too little to pay for a reorder, so they follow their inputs.
      {"DepthwiseConv2dNative", Images(Layout::kFollows, {0}, {0})},
      {"_FusedDepthwiseConv2dNative", Images(Layout::kFollows, {0, 3}, {0})},
      {"DepthwiseConv2dNativeBackpropInput", Images(Layout::kFollows, {2}, {0})},
      {"DepthwiseConv2dNativeBackpropFilter", Images(Layout::kFollows, {0, 2}, {})},
      {"MaxPool", Images(Layout::kFollows, {0}, {0})},
      {"AvgPool", Images(Layout::kFollows, {0}, {0})},
      {"BiasAdd", Images(Layout::kFollows, {0}, {0})},
      {"_MaxPoolWithArgmax", Images(Layout::kFollows, {0}, {0, 1})},
      {"MaxPoolGrad", Images(Layout::kFollows, {0, 1, 2}, {0})},
      {"_MaxPoolGradWithArgmax", Images(Layout::kFollows, {0, 1, 2}, {0})},
      {"AvgPoolGrad", Images(Layout::kFollows, {1}, {0})},
      {"BiasAddGrad", Images(Layout::kFollows, {0}, {})},
      {"FusedBatchNormV3", Images(Layout::kFollows, {0}, {0})},
      {"_FusedBatchNormEx", Images(Layout::kFollows, {0, 5}, {0})},
      {"FusedBatchNormGradV3", Images(Layout::kFollows, {0, 1}, {0})},
      {"_FusedBatchNormGradEx", Images(Layout::kFollows, {0, 1, 7}, {0, 5})},
  };
  for (const char* op : {"Reshape", "Identity", "StopGradient", "ExpandDims", "Squeeze"}) {
    table[op] = {.view = true, .failure = Failure::kNever};
  }
  for (const char* op : {"AddV2",
                         "AddN",
                         "Sub",
                         "Mul",
                         "RealDiv",
                         "Maximum",
                         "Minimum",
                         "Pow",
                         "Neg",
                         "Abs",
                         "Square",
                         "Sqrt",
                         "Rsqrt",
                         "Exp",
                         "Log",
                         "Tanh",
                         "Sigmoid",
                         "Erf",
                         "Relu",
                         "Relu6",
                         "ReluGrad",
                         "Relu6Grad",
                         "TanhGrad",
                         "SigmoidGrad",
                         "Elu",
                         "EluGrad",
                         "Selu",
                         "SeluGrad",
                         "LeakyRelu",
                         "LeakyReluGrad",
                         "Softplus",
                         "SoftplusGrad",
                         "Softsign",
                         "SoftsignGrad",
                         "Greater",
                         "Less",
                         "LessEqual",
                         "GreaterEqual",
                         "SelectV2",
                         "Reciprocal",
                         "Cast",
                         "SquaredDifference",
                         "_FusedElementwise"}) {
    table[op].elementwise = true;
  }
  for (const char* op : {"AddV2",
                         "Add",
                         "AddN",
                         "Sub",
                         "Mul",
                         "Maximum",
                         "Minimum",
                         "Neg",
                         "Abs",
                         "Square",
                         "Sqrt",
                         "Rsqrt",
                         "Exp",
                         "Log",
                         "Tanh",
                         "Sigmoid",
                         "Sign",
                         "SelectV2",
                         "Cast",
                         "Fill",
                         "BroadcastTo",
                         "Transpose",
                         "_FusedElementwise",
                         "_Copy",
                         "_UpdateSweep"}) {
    table[op].failure = Failure::kNever;
  }
  for (const char* op : {"MatMul", "_FusedMatMul", "BatchMatMulV2", "Conv2D", "_FusedConv2D",
                         "_FusedConv2DMaxPool", "_FusedConv2DBackpropFilter",
                         "_Conv2DMaxPoolBackpropInput", "_Conv2DMaxPoolBackpropFilter"}) {
    table[op].factors = {0, 1};
  }
  table["Conv2DBackpropInput"].factors = {1, 2};
  table["Conv2DBackpropFilter"].factors = {0, 2};
  table["RealDiv"].failure = Failure::kNeverOfFloats;  // integers are divided by 0 with an error
  return table;
}

}  // namespace

const OpTraits& TraitsOf(const std::string& op) {
  static const auto& table = *new std::unordered_map<std::string, OpTraits>(MakeTable());
  static const auto& none = *new OpTraits();
  static const auto& update = *new OpTraits{.failure = Failure::kNever};
  const auto it = table.find(op);
  if (it != table.end()) return it->second;
  return absl::StartsWith(op, "Apply") ? update : none;
}

}  // namespace estimator
