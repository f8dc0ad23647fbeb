#include "estimator/nn/layers/core.h"

#include <algorithm>

#include "estimator/base/status.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/random.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::layers {

Tensor Dropout(const Tensor& x, const DropoutOptions& options) {
  const LayerScope scope(options.name, "dropout");
  if (!CheckRank(x, "dropout", 0, 64)) return InvalidLike(x);
  if (!(options.rate >= 0 && options.rate < 1)) {
    return x.graph()->Fail(InvalidArgument("dropout: rate must be in [0, 1), got ", options.rate));
  }
  if (!options.training || options.rate == 0) return x;
  return estimator::Dropout(
      x, {.rate = options.rate, .noise_shape = options.noise_shape, .seed = options.seed});
}

Tensor Flatten(const Tensor& x, StringArg name) {
  const LayerScope scope(name, "flatten");
  if (!CheckRank(x, "flatten", 1, 64)) return InvalidLike(x);
  return Reshape(
      x, Shape{x.dim(0),
               x.rank() == 1 ? 1 : x.shape().num_elements() / std::max<int64_t>(x.dim(0), 1)});
}

Tensor Embedding(const Tensor& ids, const EmbeddingOptions& options) {
  const LayerScope scope(options.name, "embedding");
  if (!CheckRank(ids, "embedding", 0, 64) ||
      !CheckPositive(options.input_dim, "embedding", "input_dim") ||
      !CheckPositive(options.output_dim, "embedding", "output_dim")) {
    return InvalidLike(ids);
  }
  if (ids.dtype() != DType::kInt32 && ids.dtype() != DType::kInt64) {
    return ids.graph()->Fail(InvalidArgument("embedding: ids '", ids.name(), "' are ",
                                             ids.spec().ToString(), "; cast them to i32 or i64"));
  }
  const Variable table =
      GetVariable("embeddings", {options.input_dim, options.output_dim},
                  {.initializer = options.embeddings_initializer ? options.embeddings_initializer
                                                                 : initializers::RandomUniform(),
                   .regularizer = options.embeddings_regularizer,
                   .trainable = options.trainable});
  return Gather(table, ids);
}

}  // namespace estimator::layers
