// Initializers: first values of variables, as tf.compat.v1.initializers.
//
//   layers::Dense(x, {.units = 10,
//                     .kernel_initializer = initializers::TruncatedNormal({.stddev = 0.02})});
//
// `seed` is the seed of the random op, which is combined with the graph's seed as in TensorFlow.
#ifndef ESTIMATOR_NN_INITIALIZERS_H_
#define ESTIMATOR_NN_INITIALIZERS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/graph/variable.h"

namespace estimator::initializers {

Initializer Zeros();
Initializer Ones();
// Every element is `value`, cast to the variable's dtype.
Initializer Constant(double value);
// The variable starts as a copy of `value`, cast to the variable's dtype.
// Errors (kept by the graph): INVALID_ARGUMENT if the variable has another shape.
Initializer Constant(const Array& value);

struct UniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed = std::nullopt;
};
// Uniform numbers in [minval, maxval).
Initializer RandomUniform(UniformOptions options = {});

struct NormalOptions {
  double mean = 0;
  double stddev = 1;
  std::optional<int64_t> seed = std::nullopt;
};
Initializer RandomNormal(NormalOptions options = {});
// A normal distribution in which numbers two standard deviations or more from the mean are drawn
// again.
Initializer TruncatedNormal(NormalOptions options = {});

enum class FanMode { kFanIn, kFanOut, kFanAvg };
enum class Distribution { kTruncatedNormal, kUntruncatedNormal, kUniform };

struct VarianceScalingOptions {
  double scale = 1;
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
  std::optional<int64_t> seed = std::nullopt;
};
// Random numbers of mean 0 and variance scale / n, where n is the fan in, the fan out or their mean
// (see ComputeFans).
//   kUniform:            U(-l, l), l = sqrt(3 * scale / n)
//   kUntruncatedNormal:  stddev = sqrt(scale / n)
//   kTruncatedNormal:    stddev = sqrt(scale / n) / 0.8796..., because truncation at two standard
//                        deviations shrinks the standard deviation to 0.8796... of it
// Source: TF 2.15 init_ops.VarianceScaling.
Initializer VarianceScaling(VarianceScalingOptions options = {});

// VarianceScaling with these options:
//                 scale  mode     distribution
//   GlorotUniform 1      fan avg  uniform
//   GlorotNormal  1      fan avg  truncated normal
//   HeUniform     2      fan in   uniform
//   HeNormal      2      fan in   truncated normal
//   LecunUniform  1      fan in   uniform
//   LecunNormal   1      fan in   truncated normal
Initializer GlorotUniform(std::optional<int64_t> seed = std::nullopt);
Initializer GlorotNormal(std::optional<int64_t> seed = std::nullopt);
Initializer HeUniform(std::optional<int64_t> seed = std::nullopt);
Initializer HeNormal(std::optional<int64_t> seed = std::nullopt);
Initializer LecunUniform(std::optional<int64_t> seed = std::nullopt);
Initializer LecunNormal(std::optional<int64_t> seed = std::nullopt);

// Returns (fan in, fan out) of a weight of this shape.
//   [inputs, outputs]:       (inputs, outputs)
//   [..., inputs, outputs]:  both times the receptive field, the product of the first sizes
//   [n]: (n, n).  []: (1, 1).
std::pair<double, double> ComputeFans(const Shape& shape);

}  // namespace estimator::initializers

#endif  // ESTIMATOR_NN_INITIALIZERS_H_
