// Layers that have no weights of a product: dropout, flatten, embedding look-up.
#ifndef ESTIMATOR_NN_LAYERS_CORE_H_
#define ESTIMATOR_NN_LAYERS_CORE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::layers {

struct DropoutOptions {
  double rate = 0.5;  // the fraction of elements that is dropped, in [0, 1)
  bool training = false;
  std::optional<Shape> noise_shape = std::nullopt;  // sizes of x, or 1 where the choice is shared
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "";  // none: dropout, dropout_1, ...
};

// While training: zero with probability `rate`, else x / (1 - rate). Otherwise x itself.
// Errors: INVALID_ARGUMENT if rate lies outside of [0, 1).
// Source: TF 2.15 tf.compat.v1.layers.dropout.
Tensor Dropout(const Tensor& x, const DropoutOptions& options = {});

// [N, ...] -> [N, the product of the rest]; [N] -> [N, 1].
// Source: TF 2.15 tf.compat.v1.layers.flatten.
Tensor Flatten(const Tensor& x, const std::string& name = "");

struct EmbeddingOptions {
  int64_t input_dim = 0;                         // required: how many ids there are
  int64_t output_dim = 0;                        // required: numbers per id
  Initializer embeddings_initializer = nullptr;  // none: uniform in [-0.05, 0.05)
  Regularizer embeddings_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";  // none: embedding, embedding_1, ...
};

// Row ids[i] of a table. The variable is `<name>/embeddings` [input_dim, output_dim].
//   ids: i32 or i64 [...], in [0, input_dim).  Returns f32 [..., output_dim].
// Errors: INVALID_ARGUMENT if ids is not i32 or i64.
// Source: TF 2.15 tf.keras.layers.Embedding.
Tensor Embedding(const Tensor& ids, const EmbeddingOptions& options);

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_CORE_H_
