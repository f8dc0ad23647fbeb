// Adadelta.
//   slots: `<variable>/Adadelta` (accum), `<variable>/Adadelta_1` (accum_update)
//
//   accum <- rho * accum + (1 - rho) * gradient^2
//   update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * gradient
//   accum_update <- rho * accum_update + (1 - rho) * update^2
//   variable <- variable - rate * update
// Source: TF 2.15 tf.compat.v1.train.AdadeltaOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_ADADELTA_H_
#define ESTIMATOR_NN_TRAIN_ADADELTA_H_

#include <string>
#include <utility>

#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"

namespace estimator::train {

struct AdadeltaOptions {
  double rho = 0.95;
  double epsilon = 1e-8;
  std::string name = "Adadelta";  // name of the ops and slots
};

class Adadelta : public FormulaOptimizer {
 public:
  explicit Adadelta(Schedule learning_rate = 0.001, AdadeltaOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .Decay("rho", options_.rho)
        .NotNegative("epsilon", options_.epsilon)
        .status();
  }
  Update UpdateOf(const Variable& variable) override {
    return {.op = "ApplyAdadelta",
            .slots = {GetSlot(variable, "accum", {.name = name()}),
                      GetSlot(variable, "accum_update", {.name = name()})},
            .numbers = {{"lr", Rate(variable)},
                        {"rho", Number(variable, options_.rho, "rho")},
                        {"epsilon", Number(variable, options_.epsilon, "epsilon")}}};
  }

 private:
  AdadeltaOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADADELTA_H_
