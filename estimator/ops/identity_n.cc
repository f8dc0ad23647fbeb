#include "estimator/ops/identity_n.h"

#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"

namespace estimator {
namespace {

absl::StatusOr<std::vector<TensorSpec>> SameAsInputs(const ShapeContext& context) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : context.inputs) specs.push_back(input.spec());
  return specs;
}

std::vector<Tensor> PassThrough(const Node& /*node*/, const std::vector<Tensor>& grads) {
  return grads;
}

EST_REGISTER_OP(
    {.name = "IdentityN", .num_inputs = -1, .shape = SameAsInputs, .gradient = PassThrough});

}  // namespace

std::vector<Tensor> IdentityN(const std::vector<Tensor>& inputs, StringArg name) {
  return AddOpN("IdentityN", static_cast<int>(inputs.size()), inputs, {}, name);
}

}  // namespace estimator
