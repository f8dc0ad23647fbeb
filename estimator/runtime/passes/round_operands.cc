#include "estimator/runtime/passes/round_operands.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
void RoundOperands(Module& module) {
  Rewriter rewriter(module);
  std::map<Value, Value> rounded;
  const auto round = [&](Value value) {
    const auto it = rounded.find(value);
    if (it != rounded.end()) return it->second;
    // A value that was bf16 before needs no rounding.
    const Node& producer = module.node(value);
    if (IsOp(producer, "Cast") && module.spec(producer.inputs[0]).dtype == DType::kBfloat16) {
      return value;
    }
    const auto cast = [&](Value from, DType to) {
      return rewriter.AddCast(from, to, absl::StrCat(module.node(from).name, "/", DTypeName(to)));
    };
    return rounded[value] = cast(cast(value, DType::kBfloat16), DType::kFloat32);
  };
  for (int n = 0, size = module.num_nodes(); n < size; ++n) {
    if (module.node(n).kind != Node::Kind::kOp || !TraitsOf(module.node(n).op).on_matrix_unit)
      continue;
    std::vector<Value> inputs = module.node(n).inputs;  // a cast moves the nodes
    for (Value& input : inputs) {
      if (module.spec(input).dtype == DType::kFloat32) input = round(input);
    }
    module.node(n).inputs = std::move(inputs);
  }
  rewriter.Finish();
}

}  // namespace estimator::ir
