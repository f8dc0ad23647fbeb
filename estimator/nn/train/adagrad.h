// Adagrad.
//   slot: `<variable>/Adagrad` (accum), which starts at initial_accumulator_value
//
//   accum <- accum + gradient^2
//   variable <- variable - rate * gradient / sqrt(accum)
// Source: TF 2.15 tf.compat.v1.train.AdagradOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_ADAGRAD_H_
#define ESTIMATOR_NN_TRAIN_ADAGRAD_H_

#include <string>
#include <utility>

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"

namespace estimator::train {

struct AdagradOptions {
  double initial_accumulator_value = 0.1;  // > 0
  std::string name = "Adagrad";            // name of the ops and slots
};

class Adagrad : public FormulaOptimizer {
 public:
  explicit Adagrad(Schedule learning_rate, AdagradOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .Positive("initial_accumulator_value", options_.initial_accumulator_value)
        .status();
  }
  Update UpdateOf(const Variable& variable) override {
    const auto initial = initializers::Constant(options_.initial_accumulator_value);
    return {.op = "ApplyAdagrad",
            .slots = {GetSlot(variable, "accumulator", {.initializer = initial, .name = name()})},
            .numbers = {{"lr", Rate(variable)}},
            .flag = true};
  }

 private:
  AdagradOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAGRAD_H_
