// Random numbers that depend only on (seed, op, step, replica). There is no hidden stream, so a
// resumed run continues with the same numbers.
//
// The generator is Philox4x32-10. Its key is `seed`, and `seed2` is the upper half of its counter;
// TensorFlow's rule derives the two from the seeds of graph and op (Graph::OpSeeds).
//   Step 0, replica 0   gives the numbers of the first run of a TensorFlow session, bit for bit.
//   Step s              starts s * reservation results later in the stream, where reservation is
//                       what TensorFlow reserves for each run: 256 * num_elements results.
//                       (RandomShuffle: one number for each row but the last, as whole results.)
//                       So a session that runs the op once a step gets the same numbers, too.
//   Replica r > 0       has the key HashSeed(seed, r).
#ifndef ESTIMATOR_OPS_RANDOM_H_
#define ESTIMATOR_OPS_RANDOM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct RandomUniformOptions {
  double minval = 0;
  double maxval = 1;
  DType dtype = DType::kFloat32;               // any floating dtype
  std::optional<int64_t> seed = std::nullopt;  // the op's seed; default: Graph::OpSeeds chooses
  std::string name = "random_uniform";
};
// Uniform numbers in [minval, maxval): tf.random.uniform of a floating dtype (RandomUniform).
Tensor RandomUniform(const Shape& shape, const RandomUniformOptions& options = {});

struct RandomUniformIntOptions {
  DType dtype = DType::kInt32;  // i32 or i64
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "random_uniform";
};
// Uniform integers in [minval, maxval): tf.random.uniform of i32 or i64 (RandomUniformInt).
// Errors: INVALID_ARGUMENT if minval >= maxval.
Tensor RandomUniformInt(const Shape& shape, int64_t minval, int64_t maxval,
                        const RandomUniformIntOptions& options = {});

struct RandomNormalOptions {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::kFloat32;  // floating
  std::optional<int64_t> seed = std::nullopt;
  std::string name = "";  // "": random_normal or truncated_normal
};
// tf.random.normal (RandomStandardNormal).
Tensor RandomNormal(const Shape& shape, const RandomNormalOptions& options = {});
// Normal numbers; those that are 2 standard deviations or more from the mean are drawn again
// (TruncatedNormal).
Tensor TruncatedNormal(const Shape& shape, const RandomNormalOptions& options = {});

// The rows of x (along axis 0) in a random order. No gradient. Source: TF 2.15 tf.random.shuffle.
Tensor RandomShuffle(const Tensor& x, std::optional<int64_t> seed = std::nullopt,
                     StringArg name = "RandomShuffle");

struct DropoutOptions {
  double rate = 0.5;  // the fraction of elements that are dropped, in [0, 1)
  // The shape of the random choice: sizes of x, or 1 along an axis whose elements share a choice.
  // Default: x's shape.
  std::optional<Shape> noise_shape = std::nullopt;
  std::optional<int64_t> seed = std::nullopt;
};
// tf.nn.dropout(x, rate): zero with probability `rate`, else x / (1 - rate). Returns x for rate 0.
//   x: floating.
// Errors: INVALID_ARGUMENT if rate is outside [0, 1), or if noise_shape does not broadcast to x's
// shape.
Tensor Dropout(const Tensor& x, DropoutOptions options, StringArg name = "dropout");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_RANDOM_H_
