#include "estimator/ops/identity_n.h"

#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

OutputSpecs SameAsInputs(const ShapeContext& context) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : context.inputs) specs.push_back(input.spec());
  return specs;
}

EST_REGISTER_OP("IdentityN", SameAsInputs, PassThrough);

}  // namespace

Tensors IdentityN(const Tensors& inputs, StringArg name) {
  return AddOpN("IdentityN", static_cast<int>(inputs.size()), inputs, {}, name);
}

}  // namespace estimator
