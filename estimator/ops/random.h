// Random numbers, keyed by (seed, op, step, replica): never a hidden stream, so a resumed run goes
// on with the same numbers.
//
// Philox4x32-10 with key = seed and the counter's upper half = seed2, the two numbers that
// TensorFlow's rule makes of the graph's seed and the op's (Graph::OpSeeds). At step 0 on replica 0
// the numbers are TensorFlow's of a session's first run, bit for bit. Step s begins s * reservation
// results further on, where reservation is what TensorFlow takes of the stream for each run:
//   256 * num_elements results for every op (RandomShuffle: a number for each row but the last, in
//   whole results). So the runs of a session that runs the op once a step are TensorFlow's, too.
//   Replica r > 0 has the key HashSeed(seed, r).
#ifndef ESTIMATOR_OPS_RANDOM_H_
#define ESTIMATOR_OPS_RANDOM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

struct RandomUniformOptions {
  double minval = 0;
  double maxval = 1;
  DType dtype = DType::kFloat32;               // floating
  std::optional<int64_t> seed = std::nullopt;  // the op's seed, as in TensorFlow
  std::string name = "random_uniform";
};
// Uniform in [minval, maxval): tf.random.uniform of floating numbers (RandomUniform).
Tensor RandomUniform(const Shape& shape, const RandomUniformOptions& options = {});

struct RandomUniformIntOptions {
  DType dtype = DType::kInt32;  // or i64
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "random_uniform";
};
// Uniform integers in [minval, maxval): tf.random.uniform of i32 or i64 (RandomUniformInt).
// Errors: INVALID_ARGUMENT unless minval < maxval.
Tensor RandomUniformInt(const Shape& shape, int64_t minval, int64_t maxval,
                        const RandomUniformIntOptions& options = {});

struct RandomNormalOptions {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::kFloat32;  // floating
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "";  // random_normal, truncated_normal
};
// tf.random.normal (RandomStandardNormal).
Tensor RandomNormal(const Shape& shape, const RandomNormalOptions& options = {});
// Normal numbers, redrawn where they are 2 standard deviations or more off (TruncatedNormal).
Tensor TruncatedNormal(const Shape& shape, const RandomNormalOptions& options = {});

// The rows of x (along axis 0) in a random order. No gradient. Source: TF 2.15 tf.random.shuffle.
Tensor RandomShuffle(const Tensor& x, std::optional<int64_t> seed = std::nullopt,
                     absl::string_view name = "RandomShuffle");

struct DropoutOptions {
  double rate = 0.5;  // the fraction that is dropped, in [0, 1)
  std::optional<Shape> noise_shape =
      std::nullopt;  // sizes of x, or 1 where the choice is shared along an axis
  std::optional<int64_t> seed = std::nullopt;
};
// tf.nn.dropout(x, rate): zero with probability `rate`, else x / (1 - rate); x itself for rate 0.
//   x: floating.
// Errors: INVALID_ARGUMENT if rate is outside of [0, 1), or noise_shape does not broadcast to x's.
Tensor Dropout(const Tensor& x, DropoutOptions options, absl::string_view name = "dropout");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_RANDOM_H_
