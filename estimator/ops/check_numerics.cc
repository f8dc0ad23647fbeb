#include "estimator/ops/check_numerics.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"

namespace estimator {
namespace {

// Stateful, so that no pass folds or removes it: the check matters even if the value is known.
EST_REGISTER_OP(
    {.name = "CheckNumerics",
     .num_inputs = 1,
     .shape = [](const ShapeContext& context) -> absl::StatusOr<std::vector<TensorSpec>> {
       EST_RETURN_IF_ERROR(CheckFloating(context.input(0), "x"));
       return std::vector<TensorSpec>{context.input(0)};
     },
     .gradient = [](const Node& node, const std::vector<Tensor>& grads) -> std::vector<Tensor> {
       return {CheckNumerics(
           grads[0],
           absl::StrCat("Not a number (NaN) or infinity (Inf) values detected in gradient. ",
                        node.attrs().s("message")))};
     },
     .stateful = true});

}  // namespace

Tensor CheckNumerics(const Tensor& x, StringArg message, StringArg name) {
  return AddOp("CheckNumerics", {x}, {{"message", std::string(message)}}, name);
}

}  // namespace estimator
