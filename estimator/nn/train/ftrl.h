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
#include <vector>

#include "estimator/nn/train/optimizer.h"
#include "estimator/ops/optimizer_ops.h"

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

class Ftrl : public Optimizer {
 public:
  explicit Ftrl(Schedule learning_rate, FtrlOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;

 private:
  struct Slots {
    Variable accum, linear;
  };
  Slots SlotsOf(const Variable& variable);
  FtrlRates Rates(const Variable& variable) const;

  FtrlOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_FTRL_H_
