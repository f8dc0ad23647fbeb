// Schedule: a learning rate that may change with global_step. Values are those of TF 2.15
// tf.compat.v1.train.*_decay. Every formula below takes s, the step at which an update is made,
// which is 0 for the first; it is computed in f32, from the int64 global_step.
//   train::GradientDescent(train::ExponentialDecay({.initial = 0.05,
//                                                   .decay_steps = 97,
//                                                   .decay_rate = 0.95}))
#ifndef ESTIMATOR_NN_TRAIN_SCHEDULE_H_
#define ESTIMATOR_NN_TRAIN_SCHEDULE_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/graph/tensor.h"

namespace estimator {

namespace train {
struct NamedRate;
}  // namespace train

// A value; it builds its ops when an optimizer's Minimize asks for the rate.
class Schedule {
 public:
  // step: f32 []. Returns f32 [].
  using Fn = std::function<Tensor(const Tensor& step)>;

  // A constant.
  template <typename Number>
  requires std::is_arithmetic_v<Number> Schedule(Number rate)  // NOLINT: a number is a schedule
      : constant_(static_cast<double>(rate)) {}
  // A tensor of the model's own: f32 [].
  Schedule(const Tensor& rate) : tensor_(rate) {}  // NOLINT
  // Any function of the step.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Schedule> &&
           std::is_invocable_r_v<Tensor, F&, const Tensor&>) Schedule(F fn)
      : fn_(std::move(fn)) {}  // NOLINT

  // One for each part of a network: see train::RateByName.
  explicit Schedule(std::shared_ptr<const std::vector<train::NamedRate>> by_name)
      : by_name_(std::move(by_name)) {}

  // The rate at `step` (f32 []).
  Tensor At(const Tensor& step) const;
  // The rate of the current step, from global_step, which is created where it does not exist.
  Tensor Build() const;

  std::optional<double> constant() const { return constant_; }
  // What train::RateByName was given, or null.
  const std::vector<train::NamedRate>* by_name() const { return by_name_.get(); }

 private:
  std::optional<double> constant_;
  Tensor tensor_;
  Fn fn_;
  std::shared_ptr<const std::vector<train::NamedRate>> by_name_;
};

namespace train {

struct DecayOptions {
  double initial = 0;      // the rate at step 0
  double decay_steps = 1;  // > 0
  double decay_rate = 1;
  bool staircase = false;  // decay at whole multiples of decay_steps
};
// initial * decay_rate^(s / decay_steps)
Schedule ExponentialDecay(const DecayOptions& options);
// initial * exp(-decay_rate * s / decay_steps)
Schedule NaturalExpDecay(const DecayOptions& options);
// initial / (1 + decay_rate * s / decay_steps)
Schedule InverseTimeDecay(const DecayOptions& options);

struct PolynomialDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double end = 1e-4;
  double power = 1;
  bool cycle = false;  // start again from initial with a longer decay, instead of staying at end
};
// (initial - end) * (1 - min(s, decay_steps) / decay_steps)^power + end
Schedule PolynomialDecay(const PolynomialDecayOptions& options);

struct PiecewiseConstantOptions {
  std::vector<int64_t> boundaries;  // increasing
  std::vector<double> values;       // one more
};
// values[i] for boundaries[i-1] < s <= boundaries[i].
// Errors (kept by the graph): INVALID_ARGUMENT if the counts do not fit, or boundaries do not
// increase.
Schedule PiecewiseConstant(const PiecewiseConstantOptions& options);

struct CosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double alpha = 0;  // what is left at the end, as a fraction of initial
};
// initial * ((1 - alpha) * (1 + cos(pi * min(s, decay_steps) / decay_steps)) / 2 + alpha)
Schedule CosineDecay(const CosineDecayOptions& options);

struct CosineDecayRestartsOptions {
  double initial = 0;
  double first_decay_steps = 1;
  double t_mul = 2;  // each period is this much longer than the one before
  double m_mul = 1;  // and begins at this much of its rate
  double alpha = 0;
};
Schedule CosineDecayRestarts(const CosineDecayRestartsOptions& options);

struct LinearCosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double num_periods = 0.5;  // of the cosine, until decay_steps
  double alpha = 0;
  double beta = 0.001;  // what is left at the end, as a fraction of initial
};
// initial * ((alpha + (decay_steps - m) / decay_steps) * c + beta), where m = min(s, decay_steps)
// and c = (1 + cos(2 pi * num_periods * m / decay_steps)) / 2.
Schedule LinearCosineDecay(const LinearCosineDecayOptions& options);

struct NoisyLinearCosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double initial_variance = 1;
  double variance_decay = 0.55;
  double num_periods = 0.5;
  double alpha = 0;
  double beta = 0.001;
  std::optional<int64_t> seed = std::nullopt;  // of the noise: TensorFlow's function takes none
};
// The same with noise added to alpha: normal, its variance initial_variance / (1 +
// m)^variance_decay. Without a seed each call of Build has noise of its own: show the tensor that
// the optimizer was given, not another.
Schedule NoisyLinearCosineDecay(const NoisyLinearCosineDecayOptions& options);

struct NoamDecayOptions {
  double scale = 1;
  double model_size = 512;
  double warmup_steps = 4000;
};
// scale * model_size^-0.5 * min(t^-0.5, t * warmup_steps^-1.5), with t = s + 1.
// Source: "Attention is all you need", section 5.3.
Schedule NoamDecay(const NoamDecayOptions& options);

// Replaces: peak * s / warmup_steps while s < warmup_steps, then `after`, which counts from step 0
// all the same. Source: google-research/bert optimization.create_optimizer.
Schedule WarmUp(double warmup_steps, double peak, const Schedule& after);
// Multiplies: rate * min(1, s / warmup_steps). Source: google-research/electra optimization.
Schedule WarmUpScaled(double warmup_steps, const Schedule& rate);

struct WarmUpThenOptions {
  double warmup_steps = 0;
  double initial = 0;  // the rate at step 0
  double peak = 0;     // the rate at the end of the warm-up
};
// Linear from `initial` to `peak` over warmup_steps, then after.At(s - warmup_steps): `after`
// counts from the end of the warm-up. Source: tensorflow/tpu resnet, lars_util.
Schedule WarmUpThen(const WarmUpThenOptions& options, const Schedule& after);

}  // namespace train
}  // namespace estimator

#endif  // ESTIMATOR_NN_TRAIN_SCHEDULE_H_
