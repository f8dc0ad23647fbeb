#include "estimator/ops/categorical.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

OutputSpecs MultinomialRule(const ShapeContext& context) {
  const TensorSpec& logits = context.input(0);
  EST_RETURN_IF_ERROR(CheckFloating(logits));
  EST_ASSIGN_OR_RETURN(const int64_t num_samples, ConstantInt(context, 1));
  if (logits.shape.rank() != 2 || logits.shape.dim(1) == 0) {
    return InvalidArgument("logits must be [N, C] with at least one class, not ",
                           logits.ToString());
  }
  if (num_samples < 0) return InvalidArgument("num_samples must be 0 or more, got ", num_samples);
  const DType dtype = context.attrs.dtype("output_dtype");
  if (dtype != DType::kInt32 && dtype != DType::kInt64) {
    return InvalidArgument("output_dtype is int32 or int64, not ", DTypeName(dtype));
  }
  return std::vector<TensorSpec>{{dtype, {logits.shape.dim(0), num_samples}}};
}

EST_REGISTER_OP("Multinomial", MultinomialRule);

}  // namespace

Tensor RandomCategorical(const Tensor& logits, int64_t num_samples,
                         const RandomCategoricalOptions& options) {
  Graph& graph = GraphFor({logits});
  const NameScope scope(options.name, graph);
  const auto [graph_seed, seed2] = graph.OpSeeds(options.seed);
  return OpBuilder("Multinomial", "Multinomial")
      .Input(logits)
      .Int("num_samples", num_samples)
      .Attr("seed", graph_seed)
      .Attr("seed2", seed2)
      .Attr("output_dtype", options.dtype)
      .Build();
}

}  // namespace estimator
