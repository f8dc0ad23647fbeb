// Momentum.
//   slot: `<variable>/Momentum` (accum)
//
//   accum <- momentum * accum + gradient
//   variable <- variable - rate * accum                             (plain)
//   variable <- variable - rate * (gradient + momentum * accum)     (Nesterov, with the new accum)
// Source: TF 2.15 tf.compat.v1.train.MomentumOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_MOMENTUM_H_
#define ESTIMATOR_NN_TRAIN_MOMENTUM_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

struct MomentumOptions {
  bool use_nesterov = false;
  std::string name = "Momentum";  // name of the ops and slots
};

class Momentum : public FormulaOptimizer {
 public:
  // momentum: a number >= 0, a tensor, or a schedule, as for a learning rate.
  Momentum(Schedule learning_rate, Schedule momentum, MomentumOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)),
        momentum_(std::move(momentum)),
        options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name()).NotNegative("momentum", momentum_.constant().value_or(0)).status();
  }
  void Prepare(const std::vector<Variable>&) override {
    const std::optional<double> number = momentum_.constant();
    momentum_tensor_ =
        number.has_value() ? Constant(static_cast<float>(*number), "momentum") : momentum_.Build();
  }
  Update UpdateOf(const Variable& variable) override {
    return {
        .op = "ApplyMomentum",
        .slots = {GetSlot(variable, "momentum", {.name = name()})},
        .numbers = {{"lr", Rate(variable)}, {"momentum", Cast(momentum_tensor_, variable.dtype())}},
        .flag = options_.use_nesterov};
  }
  std::vector<Operation> Finish() override {
    momentum_tensor_ = Tensor();
    return {};
  }

 private:
  Schedule momentum_;
  MomentumOptions options_;
  Tensor momentum_tensor_;  // momentum_ in the step being built
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_MOMENTUM_H_
