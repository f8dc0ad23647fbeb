// RMSProp.
//   slots:           `<variable>/RMSProp` (ms, starts at 1), `RMSProp_1` (mom)
//   slots, centered: `<variable>/RMSProp` (ms, starts at 1), `RMSProp_1` (mg), `RMSProp_2` (mom)
//
//   ms <- decay * ms + (1 - decay) * gradient^2
//   mg <- decay * mg + (1 - decay) * gradient                                     (centered)
//   mom <- momentum * mom + rate * gradient / sqrt(ms + epsilon)                  (plain)
//   mom <- momentum * mom + rate * gradient / sqrt(ms - mg^2 + epsilon)           (centered)
//   variable <- variable - mom
// Source: TF 2.15 tf.compat.v1.train.RMSPropOptimizer.
#ifndef ESTIMATOR_NN_TRAIN_RMS_PROP_H_
#define ESTIMATOR_NN_TRAIN_RMS_PROP_H_

#include <string>
#include <utility>

#include "estimator/nn/initializers.h"
#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"

namespace estimator::train {

struct RMSPropOptions {
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
  bool centered = false;
  std::string name = "RMSProp";  // name of the ops and slots
};

class RMSProp : public FormulaOptimizer {
 public:
  explicit RMSProp(Schedule learning_rate, RMSPropOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .Decay("decay", options_.decay)
        .NotNegative("momentum", options_.momentum)
        .NotNegative("epsilon", options_.epsilon)
        .status();
  }
  Update UpdateOf(const Variable& variable) override {
    Update update = {.op = options_.centered ? "ApplyCenteredRMSProp" : "ApplyRMSProp",
                     .numbers = {{"lr", Rate(variable)},
                                 {"rho", Number(variable, options_.decay, "decay")},
                                 {"momentum", Number(variable, options_.momentum, "momentum")},
                                 {"epsilon", Number(variable, options_.epsilon, "epsilon")}}};
    // Created in this order, which the names of the slots show. The centered op has mg first.
    const Variable ms =
        GetSlot(variable, "rms", {.initializer = initializers::Ones(), .name = name()});
    if (options_.centered) update.slots.push_back(GetSlot(variable, "mg", {.name = name()}));
    update.slots.push_back(ms);
    update.slots.push_back(GetSlot(variable, "momentum", {.name = name()}));
    return update;
  }

 private:
  RMSPropOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_RMS_PROP_H_
