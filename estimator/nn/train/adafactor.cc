#include "estimator/nn/train/adafactor.h"

#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::train {
namespace {

// `shape` without one axis.
Shape Without(const Shape& shape, int axis) {
  std::vector<int64_t> dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return Shape(dims);
}

Tensor RootMeanSquare(const Tensor& x) { return Sqrt(ReduceMean(Square(x))); }

}  // namespace

Schedule AdafactorDecayRatePow(double exponent) {
  return [exponent](const Tensor& s) { return 1 - Pow(s + 1, -exponent); };
}

Schedule AdafactorDecayRateAdam(double beta2) {
  return [beta2](const Tensor& s) {
    const Tensor beta = ConstantLike(s, beta2, "beta2");
    return beta * (1 - Pow(beta, s)) / (1 - Pow(beta, s + 1));
  };
}

Schedule AdafactorLearningRate(bool multiply_by_parameter_scale) {
  return [multiply_by_parameter_scale](const Tensor& s) {
    const Tensor rate = Minimum(Rsqrt(s + 1), 0.01);
    return multiply_by_parameter_scale ? rate : rate * 0.05;
  };
}

Adafactor::Adafactor(AdafactorOptions options)
    : Adafactor(AdafactorLearningRate(options.multiply_by_parameter_scale), std::move(options)) {}

Adafactor::Adafactor(Schedule learning_rate, AdafactorOptions options)
    : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

absl::Status Adafactor::Validate() const {
  return OptionChecks(name())
      .Decay("decay_rate", options_.decay_rate.constant().value_or(0))
      .Decay("beta1", options_.beta1)
      .Positive("clipping_threshold", options_.clipping_threshold.value_or(1))
      .NotNegative("epsilon1", options_.epsilon1)
      .NotNegative("epsilon2", options_.epsilon2)
      .status();
}

void Adafactor::Prepare(const std::vector<Variable>&) { decay_ = options_.decay_rate.Build(); }

std::vector<Operation> Adafactor::Finish() {
  decay_ = Tensor();
  return {};
}

Tensor Adafactor::Normalized(const Tensor& gradient, const Variable& variable,
                             std::vector<Operation>& updates) {
  const auto moving = [&](absl::string_view key, const Shape& shape, const Tensor& value) {
    const Variable slot =
        GetSlot(variable, key, {.name = name(), .shape = shape, .dtype = DType::kFloat32});
    const Tensor next = decay_ * slot + (1 - decay_) * value;
    updates.push_back(Assign(slot, next));
    return next;
  };
  const Tensor square = Square(gradient) + options_.epsilon1;
  const int rank = variable.shape().rank();
  if (!options_.factored || rank < 2)
    return gradient * Rsqrt(moving("v", variable.shape(), square));
  const Tensor rows = moving("vr", Without(variable.shape(), rank - 1), ReduceMean(square, -1));
  const Tensor columns = moving("vc", Without(variable.shape(), rank - 2), ReduceMean(square, -2));
  const Tensor row_factor = Rsqrt(rows / ReduceMean(rows, -1, {.keepdims = true}));
  return gradient * ExpandDims(row_factor, -1) * ExpandDims(Rsqrt(columns), -2);
}

std::vector<Operation> Adafactor::ApplyDense(const Tensor& gradient, const Variable& variable) {
  std::vector<Operation> updates;
  // Created before vr and vc, so that m gets the slot name without a suffix, as in tensor2tensor.
  const Variable m = options_.beta1 == 0 ? Variable() : GetSlot(variable, "m", {.name = name()});
  const Tensor value = Cast(variable, DType::kFloat32);
  Tensor x = Normalized(Cast(gradient, DType::kFloat32), variable, updates);
  if (options_.clipping_threshold.has_value())
    x /= Maximum(RootMeanSquare(x) / *options_.clipping_threshold, 1);
  Tensor scale = Cast(Rate(variable), DType::kFloat32);
  if (options_.multiply_by_parameter_scale)
    scale *= Maximum(RootMeanSquare(value), options_.epsilon2);
  Tensor step = scale * x;
  if (options_.beta1 != 0) {
    step = options_.beta1 * Cast(m, DType::kFloat32) + (1 - options_.beta1) * step;
    updates.push_back(Assign(m, Cast(step, m.dtype())));
  }
  updates.push_back(Assign(variable, Cast(value - step, variable.dtype())));
  return updates;
}

}  // namespace estimator::train
