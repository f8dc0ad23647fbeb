// Adafactor: the second moment of a matrix kept as its row and column means. All in f32.
//   square = gradient^2 + epsilon1
//   two axes or more, the last two being rows and columns (slots vr [..., rows], vc [...,
//   columns]):
//     vr <- decay * vr + (1 - decay) * mean over columns of square
//     vc <- decay * vc + (1 - decay) * mean over rows of square
//     x = gradient / sqrt(vr / mean(vr)) / sqrt(vc)
//   fewer, or factored = false (slot v): v <- decay * v + (1 - decay) * square
//     x = gradient / sqrt(v)
//   x <- x / max(1, rms(x) / clipping_threshold)
//   step = rate * max(rms(variable), epsilon2) * x, or rate * x without multiply_by_parameter_scale
//   m <- beta1 * m + (1 - beta1) * step, and m is the step (slot m, only where beta1 is not 0)
//   variable <- variable - step
// Slots are called `<variable>/Adafactor`, `_1`, `_2`, in the order m, vr, vc or m, v.
// Source: tensor2tensor utils/adafactor.AdafactorOptimizer; Shazeer and Stern 2018, "Adafactor".
#ifndef ESTIMATOR_NN_TRAIN_ADAFACTOR_H_
#define ESTIMATOR_NN_TRAIN_ADAFACTOR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/nn/train/optimizer.h"

namespace estimator::train {

// 1 - t^-exponent, t = s + 1: the memory grows with the steps.
Schedule AdafactorDecayRatePow(double exponent);
// beta2 * (1 - beta2^(t-1)) / (1 - beta2^t), t = s + 1: Adam's, its bias correction included.
Schedule AdafactorDecayRateAdam(double beta2);
// min(t^-0.5, 0.01), t = s + 1; a twentieth of it without multiply_by_parameter_scale.
Schedule AdafactorLearningRate(bool multiply_by_parameter_scale = true);

struct AdafactorOptions {
  bool multiply_by_parameter_scale = true;
  Schedule decay_rate = AdafactorDecayRatePow(0.8);
  double beta1 = 0;
  std::optional<double> clipping_threshold = 1.0;  // > 0; none: no clipping
  bool factored = true;
  double epsilon1 = 1e-30;
  double epsilon2 = 1e-3;
  std::string name = "Adafactor";  // of its ops and slots
};

class Adafactor : public Optimizer {
 public:
  // With AdafactorLearningRate(options.multiply_by_parameter_scale).
  explicit Adafactor(AdafactorOptions options = {});
  explicit Adafactor(Schedule learning_rate, AdafactorOptions options = {});

 protected:
  absl::Status Validate() const override;
  void Prepare(const std::vector<Variable>& variables) override;
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  // gradient over the root of its second moment; adds the moment's updates.
  Tensor Normalized(const Tensor& gradient, const Variable& variable,
                    std::vector<Operation>& updates);

  AdafactorOptions options_;
  Tensor decay_;  // of the step being built
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ADAFACTOR_H_
