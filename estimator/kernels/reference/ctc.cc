// CTCLoss, in double. With y[t,c] = softmax(inputs[t,b])[c] and the states of ctc_labels.h:
//   alpha[t,s]  the probability of all beginnings of paths that are in state s in step t
//   beta[t,s]   the probability of all ends of paths that are in state s in step t, without y[t]
//   p = sum_s alpha[t,s] * beta[t,s], the same for every t
//   loss = -log(p)
//   gradient[t,c] = y[t,c] - sum_{s of class c} alpha[t,s] * beta[t,s] / p
// Source: Graves, Fernandez, Gomez, Schmidhuber 2006; TF 2.15 ctc_loss_calculator.h.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/kernels/ctc_labels.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b)).
double LogAdd(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kLogZero ? a : a + std::log1p(std::exp(b - a));
}

// The log of the sum of exponentials of a row.
template <typename T>
double LogOfSum(const T* x, int64_t n) {
  const double maximum = static_cast<double>(*std::max_element(x, x + n));
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(x[c]) - maximum);
  return maximum + std::log(sum);
}

// The loss of example b and, in `gradient`, its gradient. Both tensors are [steps, batch, classes].
//   alpha, beta: memory for [steps, states] each.  y: memory for [classes].
template <typename T>
double CtcLossOf(const CtcSizes& sizes, const CtcExample& example, int64_t b, const T* inputs,
                 double* alpha, double* beta, double* y, T* gradient) {
  const int64_t steps = example.steps, stride = sizes.batch * sizes.classes;
  const int64_t states = 2 * static_cast<int64_t>(example.labels.size()) + 1;
  for (int64_t t = 0; t < sizes.steps; ++t)
    std::fill_n(gradient + t * stride + b * sizes.classes, sizes.classes, T(0));
  if (example.ignored || steps == 0) return 0;
  const auto state_class = [&](int64_t s) {
    return s % 2 == 0 ? sizes.blank() : int64_t{example.labels[static_cast<size_t>(s / 2)]};
  };
  // Whether a path may be in the same state for two steps, and skip the blank before state s.
  const auto stays = [&](int64_t s) { return s % 2 == 0 || sizes.merge; };
  const auto skips = [&](int64_t s) {
    return s % 2 == 1 && s > 1 && !(sizes.merge && state_class(s) == state_class(s - 2));
  };
  const auto row = [&](int64_t t) { return inputs + t * stride + b * sizes.classes; };

  for (int64_t t = 0; t < steps; ++t) {
    const double log_sum = LogOfSum(row(t), sizes.classes);
    double* const now = alpha + t * states;
    const double* const before = now - states;
    for (int64_t s = 0; s < states; ++s) {
      double sum = t == 0 && s < 2 ? 0 : kLogZero;
      if (t > 0) {
        if (stays(s)) sum = before[s];
        if (s > 0) sum = LogAdd(sum, before[s - 1]);
        if (skips(s)) sum = LogAdd(sum, before[s - 2]);
      }
      now[s] = sum + static_cast<double>(row(t)[state_class(s)]) - log_sum;
    }
  }
  for (int64_t t = steps - 1; t >= 0; --t) {
    double* const now = beta + t * states;
    const double* const after = now + states;
    const double log_sum = t + 1 < steps ? LogOfSum(row(t + 1), sizes.classes) : 0;
    const auto next = [&](int64_t s) {
      return after[s] + static_cast<double>(row(t + 1)[state_class(s)]) - log_sum;
    };
    for (int64_t s = 0; s < states; ++s) {
      now[s] = t + 1 == steps && s >= states - 2 ? 0 : kLogZero;
      if (t + 1 == steps) continue;
      if (stays(s)) now[s] = next(s);
      if (s + 1 < states) now[s] = LogAdd(now[s], next(s + 1));
      if (s + 2 < states && skips(s + 2)) now[s] = LogAdd(now[s], next(s + 2));
    }
  }
  double log_p = kLogZero;
  for (int64_t s = 0; s < states; ++s) log_p = LogAdd(log_p, alpha[s] + beta[s]);
  for (int64_t t = 0; t < steps; ++t) {
    const double log_sum = LogOfSum(row(t), sizes.classes);
    for (int64_t c = 0; c < sizes.classes; ++c)
      y[c] = std::exp(static_cast<double>(row(t)[c]) - log_sum);
    // Without a path the gradient is that of the softmax, as in TensorFlow.
    for (int64_t s = 0; s < states && log_p != kLogZero; ++s)
      y[state_class(s)] -= std::exp(alpha[t * states + s] + beta[t * states + s] - log_p);
    for (int64_t c = 0; c < sizes.classes; ++c)
      gradient[t * stride + b * sizes.classes + c] = static_cast<T>(y[c]);
  }
  return -log_p;
}

template <typename T>
KernelPlan MakeCtcLoss(const KernelSpec& spec) {
  const CtcSizes sizes(spec);
  const int64_t cells = sizes.steps * sizes.max_states();
  const size_t bytes = static_cast<size_t>(2 * cells + sizes.classes) * sizeof(double);
  return MakeKernel(
      [sizes, cells, bytes](const KernelArgs& args) {
        auto* const alpha = static_cast<double*>(args.scratch);
        CtcLabels labels(sizes, static_cast<char*>(args.scratch) + AlignedBytes(bytes));
        EST_RETURN_IF_ERROR(labels.Read(args));
        for (int64_t b = 0; b < sizes.batch; ++b)
          args.out<T>(0)[b] =
              static_cast<T>(CtcLossOf(sizes, labels.example(b), b, args.in<T>(0), alpha,
                                       alpha + cells, alpha + 2 * cells, args.out<T>(1)));
        return absl::OkStatus();
      },
      AlignedBytes(bytes) + sizes.scratch_bytes());
}

EST_REGISTER_KERNEL("CTCLoss", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  if (spec.inputs[0].dtype == DType::kFloat64) return MakeCtcLoss<double>(spec);
  if (spec.inputs[0].dtype == DType::kFloat32) return MakeCtcLoss<float>(spec);
  return nullptr;
});

}  // namespace
}  // namespace estimator
