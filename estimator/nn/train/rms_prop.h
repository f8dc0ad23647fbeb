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
#include <vector>

#include "estimator/nn/train/optimizer.h"
#include "estimator/ops/optimizer_ops.h"

namespace estimator::train {

struct RMSPropOptions {
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
  bool centered = false;
  std::string name = "RMSProp";  // name of the ops and slots
};

class RMSProp : public Optimizer {
 public:
  explicit RMSProp(Schedule learning_rate, RMSPropOptions options = {})
      : Optimizer(options.name, std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  absl::Status Validate() const override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                     const Variable& variable) override;

 private:
  RMSPropRates Rates(const Variable& variable) const;
  Variable MeanSquare(const Variable& variable);

  RMSPropOptions options_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_RMS_PROP_H_
