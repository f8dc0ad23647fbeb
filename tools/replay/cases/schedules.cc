// Every learning-rate schedule, as in testdata/reference/schedules/generate.py.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

std::vector<std::pair<std::string, Schedule>> Schedules() {
  using namespace train;  // NOLINT: a list of its functions
  const DecayOptions decay = {.initial = 0.5, .decay_steps = 7, .decay_rate = 0.8};
  DecayOptions staircase = decay;
  staircase.staircase = true;
  const Schedule linear = PolynomialDecay({.initial = 0.5, .decay_steps = 25, .end = 0});
  return {
      {"constant", 0.3},
      {"exponential_decay", ExponentialDecay(decay)},
      {"exponential_decay_staircase", ExponentialDecay(staircase)},
      {"natural_exp_decay", NaturalExpDecay(decay)},
      {"natural_exp_decay_staircase", NaturalExpDecay(staircase)},
      {"inverse_time_decay", InverseTimeDecay(decay)},
      {"inverse_time_decay_staircase", InverseTimeDecay(staircase)},
      {"polynomial_decay",
       PolynomialDecay({.initial = 0.5, .decay_steps = 15, .end = 0.01, .power = 2})},
      {"polynomial_decay_cycle",
       PolynomialDecay(
           {.initial = 0.5, .decay_steps = 8, .end = 0.01, .power = 0.5, .cycle = true})},
      {"piecewise_constant", PiecewiseConstant({.boundaries = {5, 12}, .values = {0.5, 0.2, 0.1}})},
      {"cosine_decay", CosineDecay({.initial = 0.5, .decay_steps = 20, .alpha = 0.1})},
      {"cosine_decay_restarts",
       CosineDecayRestarts(
           {.initial = 0.5, .first_decay_steps = 6, .t_mul = 1.5, .m_mul = 0.8, .alpha = 0.1})},
      {"linear_cosine_decay",
       LinearCosineDecay(
           {.initial = 0.5, .decay_steps = 20, .num_periods = 1.5, .alpha = 0.1, .beta = 0.01})},
      {"noisy_linear_cosine_decay", NoisyLinearCosineDecay({.initial = 0.5,
                                                            .decay_steps = 20,
                                                            .initial_variance = 0.3,
                                                            .variance_decay = 0.6,
                                                            .num_periods = 2,
                                                            .alpha = 0.2,
                                                            .beta = 0.05,
                                                            .seed = 5})},
      {"noam_decay", NoamDecay({.scale = 2, .model_size = 64, .warmup_steps = 8})},
      {"warm_up", WarmUp(5, 0.5, linear)},
      {"warm_up_scaled", WarmUpScaled(5, linear)},
      {"warm_up_then", WarmUpThen({.warmup_steps = 5, .initial = 0.1, .peak = 0.5},
                                  CosineDecay({.initial = 0.5, .decay_steps = 15}))},
  };
}

EstimatorSpec ModelFn(const Features& features, const Labels&, Mode) {
  std::vector<Tensor> losses;
  std::vector<Operation> updates;
  for (const auto& [name, rate] : Schedules()) {
    const Initializer zeros = initializers::Zeros();
    const Variable weight = GetVariable(absl::StrCat(name, "/weight"), {}, {.initializer = zeros});
    const Variable seen =
        GetVariable(absl::StrCat(name, "/rate"), {}, {.initializer = zeros, .trainable = false});
    losses.push_back(weight * ReduceMean(features));
    updates.push_back(train::GradientDescent(rate).Minimize(
        losses.back(), {.var_list = {weight}, .increment_global_step = false}));
    updates.push_back(Assign(seen, rate.Build()));
  }
  updates.push_back(AssignAdd(GetOrCreateGlobalStep(), Constant<int64_t>(1)));
  return EstimatorSpec::Train(AddN(losses), Group(updates));
}

}  // namespace

Cases ScheduleCases() { return {{"schedules", ModelFn}}; }

}  // namespace estimator::replay
