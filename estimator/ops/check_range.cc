#include "estimator/ops/check_range.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"

namespace estimator {
namespace {

// Stateful, so that no pass folds or removes it: the check matters even if the value is known.
EST_REGISTER_OP(
    "CheckRange",
    [](const ShapeContext& context) -> OutputSpecs {
      const DType dtype = context.input(0).dtype;
      if (dtype == DType::kString || dtype == DType::kBool) {
        return InvalidArgument(context.attrs.s("what"), " must be numbers");
      }
      return std::vector<TensorSpec>{context.input(0)};
    },
    [](const Node&, const Tensors& grads) { return grads; });

}  // namespace

Tensor CheckRange(const Tensor& x, const CheckRangeOptions& options, StringArg name) {
  return AddOp("CheckRange", {x},
               {{"low", options.low},
                {"high", options.high},
                {"what", options.what},
                {"cure", options.cure}},
               name);
}

}  // namespace estimator
