// Schedule: a learning rate that may change with global_step.
//
//   train::GradientDescent(
//       train::ExponentialDecay({.initial = 0.05, .decay_steps = 97, .decay_rate = 0.95}))
//
// A rate by epoch is ByEpoch(steps_per_epoch, schedule).
//
// In the formulas below, s is the number of steps before the update: 0 for the first. It is the
// int64 global_step, cast to f32. Values are those of TF 2.15 tf.compat.v1.train.*_decay. Where a
// step is compared with a boundary or the end of a warm-up, the comparison is in int64, as there:
// f32 has only even numbers from 2^24 on.
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

// A value type. Its ops are built when an optimizer's Minimize needs the rate.
class Schedule {
 public:
  // step: f32 []. Returns f32 [].
  using Fn = std::function<Tensor(const Tensor& step)>;

  // A constant.
  template <typename Number>
  requires std::is_arithmetic_v<Number> Schedule(Number rate)  // NOLINT: a number is a schedule
      : constant_(static_cast<double>(rate)) {}
  // A tensor that the model computes: f32 [].
  Schedule(const Tensor& rate) : tensor_(rate) {}  // NOLINT
  // Any function of the step.
  template <typename F>
  requires(!std::same_as<std::remove_cvref_t<F>, Schedule> &&
           std::is_invocable_r_v<Tensor, F&, const Tensor&>) Schedule(F fn)
      : fn_(std::move(fn)) {}  // NOLINT

  // For train::RateByName.
  explicit Schedule(std::shared_ptr<const std::vector<train::NamedRate>> by_name)
      : by_name_(std::move(by_name)) {}

  // Returns the rate at `step`, f32 []. The step is i64 [] or f32 [].
  // Errors (kept by the graph): INVALID_ARGUMENT if the function of the step returns another type,
  // or if the schedule is a train::RateByName.
  Tensor At(const Tensor& step) const;
  // Returns the rate of the current step. Creates global_step if the graph does not have it.
  Tensor Build() const;

  std::optional<double> constant() const { return constant_; }
  // The argument of train::RateByName; null for other schedules.
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
  bool staircase = false;  // true: round s / decay_steps down, so that the rate changes in steps
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
  // false: the rate stays at `end` after decay_steps. true: it starts again from `initial`, with a
  // longer decay.
  bool cycle = false;
};
// (initial - end) * (1 - min(s, decay_steps) / decay_steps)^power + end
Schedule PolynomialDecay(const PolynomialDecayOptions& options);

struct PiecewiseConstantOptions {
  std::vector<int64_t> boundaries;  // increasing steps
  std::vector<double> values;       // one more than boundaries
};
// values[i] for boundaries[i-1] < s <= boundaries[i].
// Errors (kept by the graph): INVALID_ARGUMENT if there is not one value more than boundaries, or
// if boundaries do not increase.
Schedule PiecewiseConstant(const PiecewiseConstantOptions& options);

struct CosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double alpha = 0;  // the rate at the end, as a fraction of initial
};
// initial * ((1 - alpha) * (1 + cos(pi * min(s, decay_steps) / decay_steps)) / 2 + alpha)
Schedule CosineDecay(const CosineDecayOptions& options);

struct CosineDecayRestartsOptions {
  double initial = 0;
  double first_decay_steps = 1;
  double t_mul = 2;  // length of a period, relative to the one before
  double m_mul = 1;  // rate at the start of a period, relative to the one before
  double alpha = 0;
};
// CosineDecay that starts again after each period. The first period is first_decay_steps long.
// Source: TF 2.15 tf.compat.v1.train.cosine_decay_restarts.
Schedule CosineDecayRestarts(const CosineDecayRestartsOptions& options);

struct LinearCosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double num_periods = 0.5;  // periods of the cosine within decay_steps
  double alpha = 0;
  double beta = 0.001;  // the rate at the end, as a fraction of initial
};
// initial * ((alpha + (decay_steps - m) / decay_steps) * c + beta), where
//   m = min(s, decay_steps)
//   c = (1 + cos(2 * pi * num_periods * m / decay_steps)) / 2
Schedule LinearCosineDecay(const LinearCosineDecayOptions& options);

struct NoisyLinearCosineDecayOptions {
  double initial = 0;
  double decay_steps = 1;
  double initial_variance = 1;
  double variance_decay = 0.55;
  double num_periods = 0.5;
  double alpha = 0;
  double beta = 0.001;
  std::optional<int64_t> seed = std::nullopt;  // seed of the noise; TensorFlow has no such argument
};
// LinearCosineDecay with normal noise of variance initial_variance / (1 + m)^variance_decay added
// to alpha. Without a seed, every call of Build makes different noise. To show the rate in a
// summary, build it once, and pass that tensor to the optimizer.
Schedule NoisyLinearCosineDecay(const NoisyLinearCosineDecayOptions& options);

struct NoamDecayOptions {
  double scale = 1;
  double model_size = 512;
  double warmup_steps = 4000;
};
// scale * model_size^-0.5 * min(t^-0.5, t * warmup_steps^-1.5), with t = s + 1.
// Source: "Attention is all you need", section 5.3.
Schedule NoamDecay(const NoamDecayOptions& options);

struct RampSustainDecayOptions {
  double start = 0;      // the rate at step 0
  double max = 0;        // after the ramp
  double min = 0;        // the rate that it decays to
  double rampup = 0;     // steps of the ramp
  double sustain = 0;    // steps at `max`
  double exp_decay = 1;  // the factor of a step afterwards
};
// Rises from `start` to `max`, stays there, and decays to `min`:
//   start + (max - start) * s / rampup                      while s < rampup
//   max                                                     while s < rampup + sustain
//   min + (max - min) * exp_decay^(s - rampup - sustain)    afterwards
// With ByEpoch, s counts epochs.
Schedule RampSustainDecay(const RampSustainDecayOptions& options);

struct OneCycleOptions {
  double max = 0;                 // the highest rate
  double total_steps = 0;         // > 1
  double pct_start = 0.3;         // the part of the steps in which the rate rises
  double div_factor = 25;         // the rate at step 0 is max / div_factor
  double final_div_factor = 1e4;  // that of the last step is max / div_factor / final_div_factor
};
// One cycle: the rate rises along half a cosine until step pct_start * total_steps - 1, and falls
// along another one until step total_steps - 1.
// Source: PyTorch 2 lr_scheduler.OneCycleLR with anneal_strategy "cos".
Schedule OneCycle(const OneCycleOptions& options);

// A schedule of epochs, which stays the same within an epoch, as with Keras'
// LearningRateScheduler: of_epoch.At(floor(s / steps_per_epoch)). So all numbers of steps of
// `of_epoch` are numbers of epochs:
//   ByEpoch(steps_per_epoch, ExponentialDecay({.initial = 0.1, .decay_rate = 0.94}))
//   ByEpoch(steps_per_epoch, [](const Tensor& epoch) { return 0.1 / (1 + epoch); })
// For a rate that changes in every step, multiply the schedule's numbers by steps_per_epoch.
// Errors (kept by the graph): INVALID_ARGUMENT if steps_per_epoch is not positive.
Schedule ByEpoch(int64_t steps_per_epoch, const Schedule& of_epoch);

// Three kinds of warm-up. For warmup_steps <= 0 there is none.
//
// Replaces the rate: peak * s / warmup_steps while s < warmup_steps, then after.At(s).
// Source: google-research/bert optimization.create_optimizer.
Schedule WarmUp(double warmup_steps, double peak, const Schedule& after);
// Scales the rate: rate * min(1, s / warmup_steps).
// Source: google-research/electra optimization.
Schedule WarmUpScaled(double warmup_steps, const Schedule& rate);

struct WarmUpThenOptions {
  double warmup_steps = 0;
  double initial = 0;  // the rate at step 0
  double peak = 0;     // the rate at the end of the warm-up
};
// Delays the rate: linear from options.initial to options.peak while s < options.warmup_steps, then
// after.At(s - options.warmup_steps).
// Source: tensorflow/tpu resnet, lars_util.
Schedule WarmUpThen(const WarmUpThenOptions& options, const Schedule& after);

}  // namespace train
}  // namespace estimator

#endif  // ESTIMATOR_NN_TRAIN_SCHEDULE_H_
