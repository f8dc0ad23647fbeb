// FTRL-Proximal.
//   slots: `<variable>/Ftrl` (accum), `<variable>/Ftrl_1` (linear)
//
//   shrunk = gradient + 2 * l2_shrinkage * variable
//   linear <- linear + shrunk - ((accum + gradient^2)^-p - accum^-p) / rate * variable
//   accum <- accum + gradient^2
//   variable <- (l1 * sign(linear) - linear) / ((beta + accum^-p) / rate + 2 * l2)
//                                                     (if |linear| > l1)
//   variable <- 0                                     (otherwise)
// with p = learning_rate_power. The new value does not start from the variable's old value. In the
// first step, where linear is 0, it follows from the gradient and the change of accum.
// Source: TF 2.15 tf.compat.v1.train.FtrlOptimizer; McMahan et al. 2013, "Ad click prediction".
#ifndef ESTIMATOR_NN_TRAIN_FTRL_H_
#define ESTIMATOR_NN_TRAIN_FTRL_H_

#include <string>
#include <utility>

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"

namespace estimator::train {

struct FtrlOptions {
  double learning_rate_power = -0.5;                // <= 0; 0: the rate does not decay
  double initial_accumulator_value = 0.1;           // >= 0
  double l1_regularization_strength = 0;            // >= 0
  double l2_regularization_strength = 0;            // >= 0
  double l2_shrinkage_regularization_strength = 0;  // >= 0
  double beta = 0;                                  // >= 0
  std::string name = "Ftrl";                        // name of the ops and slots
  std::string accum_name = "";                      // name of the slot accum; "": `name`
  std::string linear_name = "";                     // name of the slot linear; "": `name`
};

class Ftrl : public FormulaOptimizer {
 public:
  explicit Ftrl(Schedule learning_rate, FtrlOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .NotPositive("learning_rate_power", options_.learning_rate_power)
        .NotNegative("initial_accumulator_value", options_.initial_accumulator_value)
        .NotNegative("l1_regularization_strength", options_.l1_regularization_strength)
        .NotNegative("l2_regularization_strength", options_.l2_regularization_strength)
        .NotNegative("l2_shrinkage_regularization_strength",
                     options_.l2_shrinkage_regularization_strength)
        .NotNegative("beta", options_.beta)
        .status();
  }
  Update UpdateOf(const Variable& variable) override {
    const auto name_or = [this](const std::string& name) {
      return name.empty() ? this->name() : name;
    };
    const Tensor rate = Rate(variable);
    Tensor l2 = Number(variable, options_.l2_regularization_strength, "l2");
    // The op has no beta. Adding beta / (2 * rate) to l2 gives the same formula.
    if (options_.beta != 0) l2 += options_.beta / (2.0 * Maximum(rate, 1e-36));
    const auto initial = initializers::Constant(options_.initial_accumulator_value);
    // The order of creation matters: the second slot of one name gets the suffix _1.
    Update update = {
        .op = "ApplyFtrl",
        .slots = {GetSlot(variable, "accum",
                          {.initializer = initial, .name = name_or(options_.accum_name)}),
                  GetSlot(variable, "linear", {.name = name_or(options_.linear_name)})},
        .numbers = {
            {"lr", rate},
            {"l1", Number(variable, options_.l1_regularization_strength, "l1")},
            {"l2", l2},
            {"lr_power", Number(variable, options_.learning_rate_power, "learning_rate_power")}}};
    const double shrinkage = options_.l2_shrinkage_regularization_strength;
    if (shrinkage > 0) {
      update.op = "ApplyFtrlV2";
      update.numbers.push_back({"l2_shrinkage", Number(variable, shrinkage, "l2_shrinkage")});
    }
    return update;
  }

 private:
  FtrlOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_FTRL_H_
