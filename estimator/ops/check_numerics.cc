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
    "CheckNumerics",
    [](const ShapeContext& context) -> OutputSpecs {
      EST_RETURN_IF_ERROR(CheckFloating(context.input(0), "x"));
      return std::vector<TensorSpec>{context.input(0)};
    },
    [](const Node& node, const Tensors& grads) -> Tensors {
      return {CheckNumerics(
          grads[0],
          absl::StrCat("Not a number (NaN) or infinity (Inf) values detected in gradient. ",
                       node.attrs().s("message")))};
    });

}  // namespace

Tensor CheckNumerics(const Tensor& x, StringArg message, StringArg name) {
  return AddOp("CheckNumerics", {x}, {{"message", std::string(message)}}, name);
}

}  // namespace estimator
