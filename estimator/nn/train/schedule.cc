#include "estimator/nn/train/schedule.h"

#include <cmath>
#include <numbers>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/node.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"
#include "estimator/ops/select.h"

namespace estimator {

Tensor Schedule::At(const Tensor& step) const {
  if (constant_.has_value()) return Constant(static_cast<float>(*constant_), "learning_rate");
  if (by_name_ != nullptr) {
    return Graph::Current().Fail(InvalidArgument(
        "RateByName has a rate for each variable and no single one; build one of its schedules"));
  }
  if (!fn_) return tensor_;
  const Tensor rate = fn_(step.dtype() == DType::kInt64 ? Cast(step, DType::kFloat32) : step);
  if (rate.valid() && !(rate.spec() == TensorSpec{DType::kFloat32, {}})) {
    return rate.graph()->Fail(
        InvalidArgument("a schedule must return f32 [], not ", rate.spec().ToString()));
  }
  return rate;
}

Tensor Schedule::Build() const {
  if (constant_.has_value() || !fn_) return At(Tensor());
  const Variable global_step = GetOrCreateGlobalStep();
  const NameScope scope("learning_rate");
  return At(global_step.read());
}

namespace train {
namespace {

// Whether value > 0. If not, the graph keeps an error.
bool CheckPositive(double value, absl::string_view schedule, absl::string_view field) {
  if (value > 0) return true;
  Graph::Current().Fail(InvalidArgument(schedule, ": ", field, " must be positive, got ", value));
  return false;
}

Tensor Invalid() { return Tensor(&Graph::Current(), nullptr, 0); }

// The i64 that At has cast to `step`, which f32 rounds beyond 2^24, or `step` itself. As in
// TensorFlow, comparisons with a number of steps take it, and formulas take the f32.
Tensor ExactStep(const Tensor& step) {
  if (!step.valid() || step.node()->op() != "Cast") return step;
  const Tensor& from = step.node()->input(0);
  return from.dtype() == DType::kInt64 ? from : step;
}

// Where(exact < number, below, otherwise), for the result of ExactStep.
Tensor WhereBelow(const Tensor& exact, double number, const Tensor& below,
                  const Tensor& otherwise) {
  // An integer is below a number if it is below the number rounded up. 2^62 fits into i64.
  const bool whole = exact.dtype() == DType::kInt64;
  const double end = whole ? std::fmin(std::ceil(number), 0x1p62) : number;
  return Where(Less(exact, end), below, otherwise);
}

// Returns s / decay_steps, rounded down for a staircase.
Tensor Progress(const Tensor& step, const DecayOptions& options) {
  const Tensor progress = step / options.decay_steps;
  return options.staircase ? Floor(progress) : progress;
}

// Returns initial * ((alpha + linear) * cosine + beta) as the node `name`.
//   s: min(step, decay_steps).
template <typename Options>
Tensor LinearCosine(const Options& o, const Tensor& s, const Tensor& linear,
                    absl::string_view name) {
  const Tensor fraction = s / o.decay_steps * (2 * o.num_periods);
  const Tensor cosine = (Cos(fraction * std::numbers::pi) + 1) * 0.5;
  return Multiply((linear + o.alpha) * cosine + o.beta, o.initial, name);
}

}  // namespace

Schedule ExponentialDecay(const DecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "ExponentialDecay", "decay_steps")) return Invalid();
    return o.initial * Pow(ConstantLike(step, o.decay_rate), Progress(step, o));
  };
}

Schedule NaturalExpDecay(const DecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "NaturalExpDecay", "decay_steps")) return Invalid();
    return o.initial * Exp(Progress(step, o) * -o.decay_rate);
  };
}

Schedule InverseTimeDecay(const DecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "InverseTimeDecay", "decay_steps")) return Invalid();
    return o.initial / (1 + Progress(step, o) * o.decay_rate);
  };
}

Schedule PolynomialDecay(const PolynomialDecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "PolynomialDecay", "decay_steps")) return Invalid();
    Tensor s = step;
    Tensor decay_steps = ConstantLike(step, o.decay_steps);
    if (o.cycle) {  // stretch the period to the next multiple of decay_steps, at least one
      decay_steps = decay_steps * Where(Equal(step, 0), 1, Ceil(step / o.decay_steps));
    } else {
      s = Minimum(step, o.decay_steps);
    }
    return (o.initial - o.end) * Pow(1 - s / decay_steps, o.power) + o.end;
  };
}

Schedule PiecewiseConstant(const PiecewiseConstantOptions& o) {
  return [o](const Tensor& step) {
    bool fits = o.values.size() == o.boundaries.size() + 1;
    for (size_t i = 1; i < o.boundaries.size(); ++i)
      fits = fits && o.boundaries[i - 1] < o.boundaries[i];
    if (!fits) {
      return Graph::Current().Fail(InvalidArgument(
          "PiecewiseConstant: needs increasing boundaries and one value more than boundaries, got ",
          o.boundaries.size(), " boundaries and ", o.values.size(), " values"));
    }
    const Tensor exact = ExactStep(step);
    Tensor rate = ConstantLike(step, o.values.back());
    for (size_t i = o.boundaries.size(); i-- > 0;) {
      rate = Where(LessEqual(exact, o.boundaries[i]), o.values[i], rate);
    }
    return rate;
  };
}

Schedule CosineDecay(const CosineDecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "CosineDecay", "decay_steps")) return Invalid();
    const Tensor completed = Minimum(step, o.decay_steps) / o.decay_steps;
    const Tensor cosine = (Cos(completed * std::numbers::pi) + 1) * 0.5;
    return (cosine * (1 - o.alpha) + o.alpha) * o.initial;
  };
}

// Source: TF 2.15 keras learning_rate_schedule.CosineDecayRestarts.
Schedule CosineDecayRestarts(const CosineDecayRestartsOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.first_decay_steps, "CosineDecayRestarts", "first_decay_steps") ||
        !CheckPositive(o.t_mul, "CosineDecayRestarts", "t_mul")) {
      return Invalid();
    }
    Tensor completed = step / o.first_decay_steps;
    Tensor restart;
    if (o.t_mul == 1) {
      restart = Floor(completed);
      completed = completed - restart;
    } else {
      restart = Floor(Log(1 - completed * (1 - o.t_mul)) / std::log(o.t_mul));
      const Tensor period = Pow(ConstantLike(step, o.t_mul), restart);
      completed = (completed - (1 - period) / (1 - o.t_mul)) / period;
    }
    const Tensor amplitude = Pow(ConstantLike(step, o.m_mul), restart);
    const Tensor cosine = amplitude * 0.5 * (Cos(completed * std::numbers::pi) + 1);
    return (cosine * (1 - o.alpha) + o.alpha) * o.initial;
  };
}

// Source: TF 2.15 keras learning_rate_schedule.LinearCosineDecay.
Schedule LinearCosineDecay(const LinearCosineDecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "LinearCosineDecay", "decay_steps")) return Invalid();
    const NameScope scope("LinearCosineDecay");
    const Tensor s = Minimum(step, o.decay_steps);
    return LinearCosine(o, s, (o.decay_steps - s) / o.decay_steps, scope.prefix());
  };
}

// Source: TF 2.15 keras learning_rate_schedule.NoisyLinearCosineDecay.
Schedule NoisyLinearCosineDecay(const NoisyLinearCosineDecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.decay_steps, "NoisyLinearCosineDecay", "decay_steps")) return Invalid();
    const NameScope scope("NoisyLinearCosineDecay");
    const Tensor s = Minimum(step, o.decay_steps);
    const Tensor variance = o.initial_variance / Pow(1 + s, ConstantLike(step, o.variance_decay));
    const Tensor noise = RandomNormal({}, {.seed = o.seed}) * Sqrt(variance);
    return LinearCosine(o, s, (o.decay_steps - s) / o.decay_steps + noise, scope.prefix());
  };
}

Schedule NoamDecay(const NoamDecayOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.warmup_steps, "NoamDecay", "warmup_steps")) return Invalid();
    const Tensor t = step + 1;
    return Minimum(Rsqrt(t), t * std::pow(o.warmup_steps, -1.5)) *
           (o.scale / std::sqrt(o.model_size));
  };
}

Schedule RampSustainDecay(const RampSustainDecayOptions& o) {
  return [o](const Tensor& step) {
    const Tensor exact = ExactStep(step);
    const double decay_begin = o.rampup + o.sustain;
    const Tensor since = Maximum(step - decay_begin, 0);
    Tensor rate = (o.max - o.min) * Pow(ConstantLike(step, o.exp_decay), since) + o.min;
    rate = WhereBelow(exact, decay_begin, ConstantLike(step, o.max), rate);
    if (o.rampup <= 0) return rate;
    return WhereBelow(exact, o.rampup, step * ((o.max - o.start) / o.rampup) + o.start, rate);
  };
}

Schedule OneCycle(const OneCycleOptions& o) {
  return [o](const Tensor& step) {
    if (!CheckPositive(o.total_steps - 1, "OneCycle", "total_steps - 1") ||
        !CheckPositive(o.div_factor, "OneCycle", "div_factor") ||
        !CheckPositive(o.final_div_factor, "OneCycle", "final_div_factor"))
      return Invalid();
    const double top = o.pct_start * o.total_steps - 1, last = o.total_steps - 1;
    if (!CheckPositive(top, "OneCycle", "pct_start * total_steps - 1") ||
        !CheckPositive(last - top, "OneCycle", "1 - pct_start"))
      return Invalid();
    const double initial = o.max / o.div_factor, lowest = initial / o.final_div_factor;
    // Half a cosine, from `from` to `to`.
    const auto anneal = [](double from, double to, const Tensor& part) {
      return (Cos(part * std::numbers::pi) + 1) * ((from - to) / 2) + to;
    };
    return Where(LessEqual(ExactStep(step), top), anneal(initial, o.max, Minimum(step / top, 1)),
                 anneal(o.max, lowest, Minimum(Maximum(step - top, 0) / (last - top), 1)));
  };
}

Schedule ByEpoch(int64_t steps_per_epoch, const Schedule& of_epoch) {
  return [=](const Tensor& step) {
    if (!CheckPositive(static_cast<double>(steps_per_epoch), "ByEpoch", "steps_per_epoch"))
      return Invalid();
    const Tensor epoch = FloorDiv(ExactStep(step), static_cast<double>(steps_per_epoch));
    return of_epoch.At(epoch);
  };
}

Schedule WarmUp(double warmup_steps, double peak, const Schedule& after) {
  return [=](const Tensor& step) {
    if (warmup_steps <= 0) return after.At(step);
    return WhereBelow(ExactStep(step), warmup_steps, step / warmup_steps * peak, after.At(step));
  };
}

Schedule WarmUpScaled(double warmup_steps, const Schedule& rate) {
  return [=](const Tensor& step) {
    if (warmup_steps <= 0) return rate.At(step);
    return rate.At(step) * Minimum(step / warmup_steps, 1);
  };
}

Schedule WarmUpThen(const WarmUpThenOptions& options, const Schedule& after) {
  return [o = options, after](const Tensor& step) {
    if (o.warmup_steps <= 0) return after.At(step);
    const Tensor rising = step / o.warmup_steps * (o.peak - o.initial) + o.initial;
    const Tensor exact = ExactStep(step);
    const bool whole =
        exact.dtype() == DType::kInt64 && std::floor(o.warmup_steps) == o.warmup_steps;
    const Tensor since = (whole ? exact : step) - o.warmup_steps;
    return WhereBelow(exact, o.warmup_steps, rising, after.At(Maximum(since, 0)));
  };
}

}  // namespace train
}  // namespace estimator
