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

// true_classes: i64 [N, num_true]. Outputs: classes i64 [num_sampled], and the expected counts of
// the true and of the drawn ones, f32.
OutputSpecs CandidateSamplerRule(const ShapeContext& context) {
  const TensorSpec& classes = context.input(0);
  const int64_t num_true = context.attrs.i("num_true"), range = context.attrs.i("range_max");
  const int64_t num_sampled = context.attrs.i("num_sampled");
  if (classes.dtype != DType::kInt64 || classes.shape.rank() != 2 ||
      classes.shape.dim(1) != num_true) {
    return InvalidArgument("true_classes must be i64 [N,", num_true, "], not ", classes.ToString());
  }
  if (num_true < 1 || num_sampled < 1 || range < 1)
    return InvalidArgument("num_true, num_sampled and range_max must be positive");
  if (context.attrs.b("unique") && num_sampled > range)
    return InvalidArgument("cannot draw ", num_sampled, " different classes of ", range);
  return std::vector<TensorSpec>{{DType::kInt64, {num_sampled}},
                                 {DType::kFloat32, classes.shape},
                                 {DType::kFloat32, {num_sampled}}};
}

EST_REGISTER_OP("UniformCandidateSampler", CandidateSamplerRule);
EST_REGISTER_OP("LogUniformCandidateSampler", CandidateSamplerRule);

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
