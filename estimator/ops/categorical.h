// Draws classes by their probabilities.
#ifndef ESTIMATOR_OPS_CATEGORICAL_H_
#define ESTIMATOR_OPS_CATEGORICAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct RandomCategoricalOptions {
  DType dtype = DType::kInt64;                 // of the classes: i64 or i32
  std::optional<int64_t> seed = std::nullopt;  // the op's seed; default: Graph::OpSeeds chooses
  std::string name = "categorical";
};

// Draws num_samples classes for each row, with probability softmax(logits). No gradient.
//   logits: floating [N, C], C > 0. A class whose logit is not finite is never drawn.
//   Returns options.dtype [N, num_samples].
// The numbers are TensorFlow's with one thread; each of its threads starts at another place of the
// stream. ops/random.h describes seeds, steps and replicas. A step takes 2 * 256 Philox results for
// each sample, where the number of samples of a row is rounded up to a multiple of 4.
// Source: TF 2.15 tf.random.categorical (Multinomial).
Tensor RandomCategorical(const Tensor& logits, int64_t num_samples,
                         const RandomCategoricalOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CATEGORICAL_H_
