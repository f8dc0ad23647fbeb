// Initializers: first values of variables, as tf.compat.v1.initializers.
//   layers::Dense(x, {.units = 10, .kernel_initializer = initializers::TruncatedNormal({.stddev =
//   0.02})});
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
// Every element is `value`.
Initializer Constant(double value);
// Exactly this array. Errors: INVALID_ARGUMENT if the variable's shape is another.
Initializer Constant(const Array& value);

struct UniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed = std::nullopt;
};
// Floating numbers in [minval, maxval).
Initializer RandomUniform(UniformOptions options = {});

struct NormalOptions {
  double mean = 0;
  double stddev = 1;
  std::optional<int64_t> seed = std::nullopt;
};
Initializer RandomNormal(NormalOptions options = {});
// Redrawn where a number lies two standard deviations or more off the mean.
Initializer TruncatedNormal(NormalOptions options = {});

enum class FanMode { kFanIn, kFanOut, kFanAvg };
enum class Distribution { kTruncatedNormal, kUntruncatedNormal, kUniform };

struct VarianceScalingOptions {
  double scale = 1;
  FanMode mode = FanMode::kFanIn;
  Distribution distribution = Distribution::kTruncatedNormal;
  std::optional<int64_t> seed = std::nullopt;
};
// Numbers of variance scale / n, where n is the number of inputs (outputs, or their mean) of a
// unit.
//   uniform: U(-l, l), l = sqrt(3 scale / n).  normal: stddev = sqrt(scale / n), for the truncated
//   one divided by 0.8796..., the standard deviation that cutting at 2 leaves.
// Source: TF 2.15 init_ops.VarianceScaling.
Initializer VarianceScaling(VarianceScalingOptions options = {});

Initializer GlorotUniform(std::optional<int64_t> seed = std::nullopt);  // 1, fan avg, uniform
Initializer GlorotNormal(
    std::optional<int64_t> seed = std::nullopt);                    // 1, fan avg, truncated normal
Initializer HeUniform(std::optional<int64_t> seed = std::nullopt);  // 2, fan in, uniform
Initializer HeNormal(std::optional<int64_t> seed = std::nullopt);   // 2, fan in, truncated normal
Initializer LecunUniform(std::optional<int64_t> seed = std::nullopt);  // 1, fan in, uniform
Initializer LecunNormal(std::optional<int64_t> seed = std::nullopt);  // 1, fan in, truncated normal

// (fan in, fan out) of a weight: [inputs, outputs], or [..., inputs, outputs] with a receptive
// field.
std::pair<double, double> ComputeFans(const Shape& shape);

}  // namespace estimator::initializers

#endif  // ESTIMATOR_NN_INITIALIZERS_H_
