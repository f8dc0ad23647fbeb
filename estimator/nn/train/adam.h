// Adam.
//   slots: `<variable>/Adam` (m), `<variable>/Adam_1` (v)
//   other variables: beta1_power, beta2_power
//
//   m <- beta1 * m + (1 - beta1) * gradient
//   v <- beta2 * v + (1 - beta2) * gradient^2
//   variable <- variable - rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
// t counts from 1. As in TensorFlow, epsilon is the paper's "epsilon hat".
// Source: TF 2.15 tf.compat.v1.train.AdamOptimizer; Kingma and Ba 2014.
#ifndef ESTIMATOR_NN_TRAIN_ADAM_H_
#define ESTIMATOR_NN_TRAIN_ADAM_H_

#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/formula_optimizer.h"
#include "estimator/nn/train/option_checks.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::string name = "Adam";  // name of the ops and slots
};

class Adam : public FormulaOptimizer {
 public:
  explicit Adam(Schedule learning_rate = 0.001, AdamOptions options = {})
      : FormulaOptimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override {
    return OptionChecks(name())
        .Decay("beta1", options_.beta1)
        .Decay("beta2", options_.beta2)
        .NotNegative("epsilon", options_.epsilon)
        .status();
  }
  void Prepare(const std::vector<Variable>&) override {
    // These are f32 for variables of any dtype, as in TensorFlow.
    beta1_power_ = GetNonSlot("beta1_power", options_.beta1);
    beta2_power_ = GetNonSlot("beta2_power", options_.beta2);
  }
  Update UpdateOf(const Variable& variable) override {
    return {.op = "ApplyAdam",
            .slots = {GetSlot(variable, "m", {.name = name()}),
                      GetSlot(variable, "v", {.name = name()})},
            .numbers = {{"beta1_power", Cast(beta1_power_, variable.dtype())},
                        {"beta2_power", Cast(beta2_power_, variable.dtype())},
                        {"lr", Rate(variable)},
                        {"beta1", Number(variable, options_.beta1, "beta1")},
                        {"beta2", Number(variable, options_.beta2, "beta2")},
                        {"epsilon", Number(variable, options_.epsilon, "epsilon")}}};
  }
  std::vector<Operation> Finish() override {
    return {Assign(beta1_power_, beta1_power_.read() * options_.beta1),
            Assign(beta2_power_, beta2_power_.read() * options_.beta2)};
  }

 private:
  AdamOptions options_;
  Variable beta1_power_;
  Variable beta2_power_;
};

// Adam that changes only the rows of a table that a step looks up, and only their slots. A variable
// with a dense gradient is updated as by Adam. On replicas all gradients are dense, as under
// TensorFlow's CrossShardOptimizer.
//   slots, other variables: Adam's, so that either continues a checkpoint of the other
// Source: TF 1.15 tf.contrib.opt.LazyAdamOptimizer.
class LazyAdam : public Adam {
 public:
  using Adam::Adam;

 protected:
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override {
    return ApplyToRows(UpdateOf(variable), gradient, variable);
  }
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAM_H_
