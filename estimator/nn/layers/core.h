// Dropout, flatten, and embedding look-up.
#ifndef ESTIMATOR_NN_LAYERS_CORE_H_
#define ESTIMATOR_NN_LAYERS_CORE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::layers {

struct DropoutOptions {
  double rate = 0.5;  // the fraction of elements that is set to zero, in [0, 1)
  bool training = false;
  // The shape of the random choice: each size is that of x, or 1 if all elements along that axis
  // share one choice. None: each element has its own.
  std::optional<Shape> noise_shape = std::nullopt;
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "";  // none: dropout, dropout_1, ...
};

// If `training`, each element becomes 0 with probability `rate`, else x / (1 - rate). If not, the
// result is x itself.
// Errors (kept by the graph): INVALID_ARGUMENT if rate is outside [0, 1).
// Source: TF 2.15 tf.compat.v1.layers.dropout.
Tensor Dropout(const Tensor& x, const DropoutOptions& options = {});

// Returns [N, product of the other sizes] for x: [N, ...], and [N, 1] for x: [N].
// Source: TF 2.15 tf.compat.v1.layers.flatten.
Tensor Flatten(const Tensor& x, StringArg name = "");

struct EmbeddingOptions {
  int64_t input_dim = 0;                         // required: number of rows, one for each id
  int64_t output_dim = 0;                        // required: size of a row
  Initializer embeddings_initializer = nullptr;  // none: uniform in [-0.05, 0.05)
  Regularizer embeddings_regularizer = nullptr;
  bool trainable = true;
  std::string name = "";  // none: embedding, embedding_1, ...
};

// Looks up row ids[i] of a table for every i.
//   ids: i32 or i64 [...], in [0, input_dim).  Returns f32 [..., output_dim].
//   Variables: `<name>/embeddings` [input_dim, output_dim].
// Errors (kept by the graph): INVALID_ARGUMENT if ids is not i32 or i64.
// Source: TF 2.15 tf.keras.layers.Embedding.
Tensor Embedding(const Tensor& ids, const EmbeddingOptions& options);

}  // namespace estimator::layers

#endif  // ESTIMATOR_NN_LAYERS_CORE_H_
