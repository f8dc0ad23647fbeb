// Drawing classes by their probabilities.
#ifndef ESTIMATOR_OPS_CATEGORICAL_H_
#define ESTIMATOR_OPS_CATEGORICAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct RandomCategoricalOptions {
  DType dtype = DType::kInt64;                 // of the classes: i32 or i64
  std::optional<int64_t> seed = std::nullopt;  // the op's seed, as in TensorFlow
  std::string name = "categorical";
};

// num_samples classes of each row, each drawn with probability softmax(logits). No gradient.
//   logits: floating [N, C], C > 0; one that is not finite is never drawn.  Returns i64 (or i32)
//   [N, num_samples].
// The numbers are TensorFlow's of one thread (its threads each begin the stream at a place of their
// own): see ops/random.h for seeds, steps and replicas. A step takes 2 * 256 Philox results for
// each sample, with samples of a row rounded up to 4. Source: TF 2.15 tf.random.categorical
// (Multinomial).
Tensor RandomCategorical(const Tensor& logits, int64_t num_samples,
                         const RandomCategoricalOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CATEGORICAL_H_
