#include "estimator/nn/initializers.h"

#include <algorithm>
#include <cmath>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/random.h"

namespace estimator::initializers {
namespace {

// The standard deviation of a standard normal distribution truncated at 2. Source: TF 2.15
// init_ops.
constexpr double kTruncatedStddev = 0.87962566103423978;

}  // namespace

Initializer Zeros() {
  return [](const Shape& shape, DType dtype) { return estimator::Zeros(shape, dtype); };
}

Initializer Ones() {
  return [](const Shape& shape, DType dtype) { return estimator::Ones(shape, dtype); };
}

Initializer Constant(double value) {
  return [value](const Shape& shape, DType dtype) {
    const Tensor scalar = estimator::Constant(Array::Scalar(value).Cast(dtype));
    return shape.rank() == 0 ? scalar : Fill(shape, scalar);
  };
}

Initializer Constant(const Array& value) {
  return [value](const Shape& shape, DType dtype) {
    if (!(value.shape() == shape)) {
      return Graph::Current().Fail(
          InvalidArgument("the constant initializer is ", value.TypeString(),
                          ", but the variable has shape ", shape.ToString()));
    }
    return estimator::Constant(value.dtype() == dtype ? value : value.Cast(dtype));
  };
}

Initializer RandomUniform(UniformOptions options) {
  return [options](const Shape& shape, DType dtype) {
    return estimator::RandomUniform(
        shape,
        {.minval = options.minval, .maxval = options.maxval, .dtype = dtype, .seed = options.seed});
  };
}

Initializer RandomNormal(NormalOptions options) {
  return [options](const Shape& shape, DType dtype) {
    return estimator::RandomNormal(
        shape,
        {.mean = options.mean, .stddev = options.stddev, .dtype = dtype, .seed = options.seed});
  };
}

Initializer TruncatedNormal(NormalOptions options) {
  return [options](const Shape& shape, DType dtype) {
    return estimator::TruncatedNormal(
        shape,
        {.mean = options.mean, .stddev = options.stddev, .dtype = dtype, .seed = options.seed});
  };
}

std::pair<double, double> ComputeFans(const Shape& shape) {
  if (shape.rank() == 0) return {1, 1};
  if (shape.rank() == 1) return {shape.dim(0), shape.dim(0)};
  double receptive = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) receptive *= static_cast<double>(shape.dim(i));
  return {receptive * static_cast<double>(shape.dim(-2)),
          receptive * static_cast<double>(shape.dim(-1))};
}

Initializer VarianceScaling(VarianceScalingOptions options) {
  return [options](const Shape& shape, DType dtype) {
    const auto [fan_in, fan_out] = ComputeFans(shape);
    const double fan = options.mode == FanMode::kFanIn    ? fan_in
                       : options.mode == FanMode::kFanOut ? fan_out
                                                          : (fan_in + fan_out) / 2;
    const double variance = options.scale / std::max(1.0, fan);
    switch (options.distribution) {
      case Distribution::kUniform: {
        const double limit = std::sqrt(3 * variance);
        return estimator::RandomUniform(
            shape, {.minval = -limit, .maxval = limit, .dtype = dtype, .seed = options.seed});
      }
      case Distribution::kUntruncatedNormal:
        return estimator::RandomNormal(
            shape, {.stddev = std::sqrt(variance), .dtype = dtype, .seed = options.seed});
      case Distribution::kTruncatedNormal:
        break;
    }
    return estimator::TruncatedNormal(
        shape,
        {.stddev = std::sqrt(variance) / kTruncatedStddev, .dtype = dtype, .seed = options.seed});
  };
}

Initializer GlorotUniform(std::optional<int64_t> seed) {
  return VarianceScaling(
      {.mode = FanMode::kFanAvg, .distribution = Distribution::kUniform, .seed = seed});
}
Initializer GlorotNormal(std::optional<int64_t> seed) {
  return VarianceScaling({.mode = FanMode::kFanAvg, .seed = seed});
}
Initializer HeUniform(std::optional<int64_t> seed) {
  return VarianceScaling({.scale = 2, .distribution = Distribution::kUniform, .seed = seed});
}
Initializer HeNormal(std::optional<int64_t> seed) {
  return VarianceScaling({.scale = 2, .seed = seed});
}
Initializer LecunUniform(std::optional<int64_t> seed) {
  return VarianceScaling({.distribution = Distribution::kUniform, .seed = seed});
}
Initializer LecunNormal(std::optional<int64_t> seed) { return VarianceScaling({.seed = seed}); }

}  // namespace estimator::initializers
