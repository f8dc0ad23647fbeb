#include "estimator/runtime/passes/round_operands.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/op_traits.h"

namespace estimator::ir {
namespace {

// Adds a cast of `value` and returns its output.
Value AddCast(Module& module, Value value, DType to) {
  const TensorSpec from = module.spec(value);
  Node cast;
  cast.op = "Cast";
  cast.name = absl::StrCat(module.node(value).name, "/", DTypeName(to));
  cast.attrs = {{"SrcT", from.dtype}, {"DstT", to}, {"Truncate", false}};
  cast.inputs = {value};
  cast.outputs = {{to, from.shape}};
  module.nodes.push_back(std::move(cast));
  return {static_cast<int>(module.nodes.size()) - 1, 0};
}

}  // namespace

void RoundOperands(Module& module) {
  std::map<Value, Value> rounded;
  const auto round = [&](Value value) {
    const auto it = rounded.find(value);
    if (it != rounded.end()) return it->second;
    // A value that was bf16 before needs no rounding.
    const Node& producer = module.node(value);
    if (producer.kind == Node::Kind::kOp && producer.op == "Cast" &&
        module.spec(producer.inputs[0]).dtype == DType::kBfloat16) {
      return value;
    }
    const Value narrow = AddCast(module, value, DType::kBfloat16);
    return rounded[value] = AddCast(module, narrow, DType::kFloat32);
  };
  const int size = static_cast<int>(module.nodes.size());
  for (int n = 0; n < size; ++n) {
    if (module.node(n).kind != Node::Kind::kOp || !TraitsOf(module.node(n).op).on_matrix_unit)
      continue;
    std::vector<Value> inputs = module.node(n).inputs;  // AddCast moves the nodes
    for (Value& input : inputs) {
      if (module.spec(input).dtype == DType::kFloat32) input = round(input);
    }
    module.node(n).inputs = std::move(inputs);
  }
  Compact(module);
}

}  // namespace estimator::ir
