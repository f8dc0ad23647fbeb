#include "estimator/runtime/passes/fold_constants.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::ir {
namespace {

Array IntArray(DType dtype, const Shape& shape, const std::vector<int64_t>& values) {
  const Array wide = Array::FromSpan<int64_t>(shape, values);
  return dtype == DType::kInt64 ? wide : wide.Cast(dtype);
}

// The value of a node that follows from static shapes alone, else nullopt.
std::optional<Array> FromSpecs(const Module& module, const Node& node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const Shape& shape = module.spec(node.inputs[0]).shape;
  const DType dtype = node.outputs[0].dtype;
  if (node.op == "Shape") return IntArray(dtype, Shape{shape.rank()}, shape.dims());
  if (node.op == "Size") return IntArray(dtype, Shape{}, {shape.num_elements()});
  if (node.op == "Rank") return IntArray(dtype, Shape{}, {shape.rank()});
  return std::nullopt;
}

bool IsFoldable(const Module& module, const Node& node, int64_t max_elements) {
  if (node.kind != Node::Kind::kOp || node.stateful || node.origin != nullptr) return false;
  // The sum of a constant depends on the number of replicas.
  if (node.outputs.empty() || node.op == "CrossReplicaSum") return false;
  int64_t input_elements = 0;
  for (const Value& input : node.inputs) {
    if (module.constant(input) == nullptr) return false;
    input_elements += module.spec(input).shape.num_elements();
  }
  int64_t output_elements = 0;
  for (const TensorSpec& output : node.outputs) output_elements += output.shape.num_elements();
  // A large Fill would be stored with the program, and reading it takes longer than computing it.
  if (output_elements > std::max(max_elements, input_elements)) return false;
  return HasKernel(node.op);
}

}  // namespace

absl::Status FoldConstants(Module& module, int64_t max_elements) {
  Replacements to(module.nodes.size());
  const size_t size = module.nodes.size();
  for (size_t n = 0; n < size; ++n) {
    Node& node = module.nodes[n];
    // An input with several outputs may have been folded to several constants; `to` has them.
    ReplaceInputs(node, to);
    if (node.kind != Node::Kind::kOp) continue;
    std::vector<Array> values;
    // Shapes are static, so this needs no kernel and no constant input.
    if (std::optional<Array> value = FromSpecs(module, node)) {
      values.push_back(*std::move(value));
    } else if (IsFoldable(module, node, max_elements)) {
      std::vector<Array> inputs;
      for (const Value& input : node.inputs) inputs.push_back(*module.constant(input));
      absl::StatusOr<std::vector<Array>> result = RunReferenceKernel(SpecOf(module, node), inputs);
      if (absl::IsUnimplemented(result.status())) continue;  // no reference kernel for this dtype
      EST_RETURN_IF_ERROR(result.status());
      values = *std::move(result);
    } else {
      continue;
    }
    if (values.size() == 1) {
      module.nodes[n] = MakeConstant(std::move(values[0]), node.name);
      continue;
    }
    const std::string name = node.name;
    for (size_t o = 0; o < values.size(); ++o) {
      to[n].push_back(module.Add(MakeConstant(std::move(values[o]), absl::StrCat(name, ":", o))));
      to.emplace_back();
    }
  }
  ReplaceUses(module, to);
  Compact(module);
  return absl::OkStatus();
}

}  // namespace estimator::ir
