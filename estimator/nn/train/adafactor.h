// Adafactor: stores the second moment of a matrix as its row means and column means.
//
//   square = gradient^2 + epsilon1
//   If factored, and the variable has two axes or more, of which the last two are rows and columns
//   (slots vr [..., rows] and vc [..., columns]):
//     vr <- decay * vr + (1 - decay) * mean over columns of square
//     vc <- decay * vc + (1 - decay) * mean over rows of square
//     x = gradient / sqrt(vr / mean(vr)) / sqrt(vc)
//   Otherwise (slot v):
//     v <- decay * v + (1 - decay) * square
//     x = gradient / sqrt(v)
//   x <- x / max(1, rms(x) / clipping_threshold)
//   step = rate * max(rms(variable), epsilon2) * x     (with multiply_by_parameter_scale)
//   step = rate * x                                    (without)
//   If beta1 is not 0 (slot m):
//     m <- beta1 * m + (1 - beta1) * step
//     step = m
//   variable <- variable - step
//
// All is computed in f32. The slots are named `<variable>/Adafactor`, `<variable>/Adafactor_1`,
// `<variable>/Adafactor_2`, in the order m, vr, vc or m, v.
// Source: tensor2tensor utils/adafactor.AdafactorOptimizer; Shazeer and Stern 2018, "Adafactor".
#ifndef ESTIMATOR_NN_TRAIN_ADAFACTOR_H_
#define ESTIMATOR_NN_TRAIN_ADAFACTOR_H_

#include <optional>
#include <string>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

// Schedules of Adafactor, with t = s + 1.
//
// 1 - t^-exponent. The average covers more steps as training proceeds.
Schedule AdafactorDecayRatePow(double exponent);
// beta2 * (1 - beta2^(t-1)) / (1 - beta2^t): the decay of Adam, including its bias correction.
Schedule AdafactorDecayRateAdam(double beta2);
// min(t^-0.5, 0.01). Without multiply_by_parameter_scale it is multiplied by 0.05.
Schedule AdafactorLearningRate(bool multiply_by_parameter_scale = true);

struct AdafactorOptions {
  bool multiply_by_parameter_scale = true;
  Schedule decay_rate = AdafactorDecayRatePow(0.8);
  double beta1 = 0;
  std::optional<double> clipping_threshold = 1.0;  // > 0; none: updates are not clipped
  bool factored = true;
  double epsilon1 = 1e-30;
  double epsilon2 = 1e-3;
  std::string name = "Adafactor";  // name of the ops and slots
};

class Adafactor : public Optimizer {
 public:
  // The rate is AdafactorLearningRate(options.multiply_by_parameter_scale).
  explicit Adafactor(AdafactorOptions options = {});
  explicit Adafactor(Schedule learning_rate, AdafactorOptions options = {});

 protected:
  absl::Status Validate() const override;
  void Prepare(const std::vector<Variable>& variables) override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  // Returns the gradient divided by the root of its second moment. Appends the updates of the
  // moment's slots.
  Tensor Normalized(const Tensor& gradient, const Variable& variable,
                    std::vector<Operation>& updates);

  AdafactorOptions options_;
  Tensor decay_;  // of the step being built
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAFACTOR_H_
