// Adagrad with L1 and L2 penalties.
//   slot: `<variable>/ProximalAdagrad` (accum), which starts at initial_accumulator_value
//
//   accum <- accum + gradient^2
//   rate' = rate / sqrt(accum)
//   p = variable - rate' * gradient
//   variable <- sign(p) * max(|p| - rate' * l1, 0) / (1 + rate' * l2)
// Source: TF 2.15 tf.compat.v1.train.ProximalAdagradOptimizer; Duchi et al. 2011 and 2009 (FOBOS).
#ifndef ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_
#define ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_

#include <string>
#include <utility>

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"

namespace estimator::train {

struct ProximalAdagradOptions {
  double initial_accumulator_value = 0.1;  // > 0
  double l1_regularization_strength = 0;   // >= 0
  double l2_regularization_strength = 0;   // >= 0
  std::string name = "ProximalAdagrad";    // name of the ops and slots
};

class ProximalAdagrad : public FormulaOptimizer {
 public:
  explicit ProximalAdagrad(Schedule learning_rate, ProximalAdagradOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .Positive("initial_accumulator_value", options_.initial_accumulator_value)
        .NotNegative("l1_regularization_strength", options_.l1_regularization_strength)
        .NotNegative("l2_regularization_strength", options_.l2_regularization_strength)
        .status();
  }
  Update UpdateOf(const Variable& variable) override {
    const auto initial = initializers::Constant(options_.initial_accumulator_value);
    return {.op = "ApplyProximalAdagrad",
            .slots = {GetSlot(variable, "accumulator", {.initializer = initial, .name = name()})},
            .numbers = {{"lr", Rate(variable)},
                        {"l1", Number(variable, options_.l1_regularization_strength, "l1")},
                        {"l2", Number(variable, options_.l2_regularization_strength, "l2")}}};
  }

 private:
  ProximalAdagradOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_PROXIMAL_ADAGRAD_H_
