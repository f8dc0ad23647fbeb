#include "tpu/stablehlo/ops/testing/golden_lowering.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"

namespace estimator::tpu::stablehlo::testing {

absl::StatusOr<KernelSpec> SpecOf(const estimator::testing::GoldenCase& golden) {
  Graph graph;
  const GraphScope scope(graph);
  KernelSpec spec{.op = golden.op, .name = golden.name, .attrs = golden.attrs};
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    const Array& value = golden.inputs[i];
    const bool constant = golden.constants.count(static_cast<int>(i)) > 0;
    inputs.push_back(
        constant
            ? graph.AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}})
            : graph.AddOp("Placeholder", {}, {{"dtype", value.dtype()}, {"shape", value.shape()}}));
    spec.inputs.push_back({value.dtype(), value.shape()});
    spec.constants.push_back(constant ? std::optional<Array>(value) : std::nullopt);
  }
  const Node* const node = graph.AddNode(golden.op, inputs, golden.attrs, "op");
  EST_RETURN_IF_ERROR(graph.status());
  spec.outputs = node->outputs();
  return spec;
}

LoweringResult Lower(Writer& w, const KernelSpec& spec, const Values& inputs) {
  w.SetLocation(spec.name);
  const StepValues step = {.step = w.FillInt({DType::kInt64, Shape{}}, 0),
                           .replica = w.FillInt({DType::kInt32, Shape{}, /*is_unsigned=*/true}, 0)};
  return (*FindLowering(spec.op))(w, LoweringArgs{spec, inputs, step});
}

std::vector<Type> Types(const std::vector<TensorSpec>& specs) {
  return std::vector<Type>(specs.begin(), specs.end());
}

absl::Status TryLowering(const KernelSpec& spec) {
  Writer w;
  Values arguments;
  for (const TensorSpec& input : spec.inputs)
    arguments.push_back({absl::StrCat("%arg", arguments.size()), Type(input)});
  const LoweringResult outputs = Lower(w, spec, arguments);
  if (!outputs.ok()) return outputs.status();
  if (outputs->size() != spec.outputs.size()) {
    return absl::InternalError(
        absl::StrCat(outputs->size(), " results for ", spec.outputs.size(), " outputs"));
  }
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if ((*outputs)[i].type == Type(spec.outputs[i])) continue;
    return absl::InternalError(absl::StrCat("output ", i, " is ", (*outputs)[i].type.ToString(),
                                            ", not ", Type(spec.outputs[i]).ToString()));
  }
  return absl::OkStatus();
}

}  // namespace estimator::tpu::stablehlo::testing
