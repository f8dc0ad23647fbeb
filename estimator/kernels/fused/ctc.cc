// CTCLoss in f32, with the examples on all threads. reference/ctc.cc has the formulas.
//
// Logarithms of alpha and beta are doubles, because they are far below 0 after many steps. Their
// differences within a step are floats, of which the exponentials are taken.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/kernels/ctc_labels.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

// The logarithm of 0: a number, so that the difference of two is not NaN.
constexpr double kCtcLogZero = -1e30;

// The memory of a thread. Rows have a margin of kCtcLogZero on both sides of the states.
struct CtcScratch {
  static constexpr int64_t kMargin = 2;
  enum Row { kStay, kSkip, kEmitted, kBeta, kNextBeta, kNumRows };
  static constexpr int64_t kNumTerms = 3;

  CtcScratch(const CtcSizes& sizes, void* memory)
      : row(RowOf(sizes)),
        rows(static_cast<double*>(memory)),
        log_sums(rows + (kNumRows + sizes.steps) * row),
        terms(reinterpret_cast<float*>(log_sums + sizes.steps)) {}
  static int64_t RowOf(const CtcSizes& sizes) { return sizes.max_states() + 2 * kMargin; }
  static size_t BytesOf(const CtcSizes& sizes) {
    const auto row = static_cast<size_t>(RowOf(sizes)), steps = static_cast<size_t>(sizes.steps);
    return AlignedBytes(((kNumRows + steps) * row + steps) * sizeof(double) +
                        kNumTerms * row * sizeof(float));
  }
  double* own(Row i) const { return rows + i * row + kMargin; }
  double* alpha(int64_t t) const { return rows + (kNumRows + t) * row + kMargin; }

  int64_t row;       // the numbers in a row
  double* rows;      // [kNumRows + steps, row]
  double* log_sums;  // [steps]: log(sum(exp(logits)))
  float* terms;      // [kNumTerms, row]
};

// out[s] = log(exp(a[s] + stay[s]) + exp(b[s]) + exp(c[s] + skip[s])) + emitted[s].
void SumPaths(const CtcScratch& scratch, const double* a, const double* b, const double* c,
              const double* skip, double* out, int64_t n) {
  const double *const stay = scratch.own(CtcScratch::kStay), *const emitted =
                                                                 scratch.own(CtcScratch::kEmitted);
  float *const x = scratch.terms, *const y = x + scratch.row, *const z = y + scratch.row;
  for (int64_t s = 0; s < n; ++s) {
    const double first = a[s] + stay[s], third = c[s] + skip[s];
    const double largest = std::max(std::max(first, b[s]), third);
    x[s] = static_cast<float>(first - largest);
    y[s] = static_cast<float>(b[s] - largest);
    z[s] = static_cast<float>(third - largest);
    out[s] = largest + emitted[s];
  }
  const auto count = static_cast<size_t>(n);
  ExpShifted(x, 0, x, count);
  ExpShifted(y, 0, y, count);
  ExpShifted(z, 0, z, count);
  for (int64_t s = 0; s < n; ++s) x[s] += y[s] + z[s];
  RunTile(TileOp::kLog, x, nullptr, nullptr, x, count);
  for (int64_t s = 0; s < n; ++s)
    out[s] = std::max(out[s] + static_cast<double>(x[s]), kCtcLogZero);
}

// Writes the softmax of a row and returns the logarithm of the sum of its exponentials.
double SoftmaxRow(const float* x, float* out, int64_t n) {
  const float maximum = *std::max_element(x, x + n);
  ExpShifted(x, maximum, out, static_cast<size_t>(n));
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t c = 0; c < n; ++c) sum += out[c];
  const float scale = 1.0f / sum;
  for (int64_t c = 0; c < n; ++c) out[c] *= scale;
  return static_cast<double>(maximum) + std::log(static_cast<double>(sum));
}

// The loss of example b; writes its gradient.
float CtcLossOf(const CtcSizes& sizes, const CtcExample& example, const CtcScratch& scratch,
                int64_t b, const float* inputs, float* gradient) {
  const int64_t steps = example.ignored ? 0 : example.steps;
  const int64_t classes = sizes.classes, blank = sizes.blank(), stride = sizes.batch * classes;
  const int64_t labels = static_cast<int64_t>(example.labels.size()), states = 2 * labels + 1;
  const int32_t* const label = example.labels.data();
  inputs += b * classes;
  gradient += b * classes;
  for (int64_t t = steps; t < sizes.steps; ++t) std::fill_n(gradient + t * stride, classes, 0.0f);
  if (steps == 0) return 0;

  std::fill_n(scratch.rows, (CtcScratch::kNumRows + steps) * scratch.row, kCtcLogZero);
  double *const stay = scratch.own(CtcScratch::kStay), *const skip = scratch.own(CtcScratch::kSkip);
  double* const emitted = scratch.own(CtcScratch::kEmitted);
  for (int64_t s = 0; s < states; s += 2) stay[s] = 0;
  for (int64_t i = 0; i < labels; ++i) {
    if (sizes.merge) stay[2 * i + 1] = 0;
    if (i > 0 && !(sizes.merge && label[i] == label[i - 1])) skip[2 * i + 1] = 0;
  }
  const auto emit = [&](int64_t t) {
    const float* const logits = inputs + t * stride;
    const auto log_of = [&](int64_t c) {
      return std::max(static_cast<double>(logits[c]) - scratch.log_sums[t], kCtcLogZero);
    };
    const double of_blank = log_of(blank);
    for (int64_t s = 0; s < states; s += 2) emitted[s] = of_blank;
    for (int64_t i = 0; i < labels; ++i) emitted[2 * i + 1] = log_of(label[i]);
  };

  for (int64_t t = 0; t < steps; ++t) {
    scratch.log_sums[t] = SoftmaxRow(inputs + t * stride, gradient + t * stride, classes);
    emit(t);
    if (t == 0) {
      std::copy_n(emitted, std::min<int64_t>(2, states), scratch.alpha(0));
    } else {
      const double* const last = scratch.alpha(t - 1);
      SumPaths(scratch, last, last - 1, last - 2, skip, scratch.alpha(t), states);
    }
  }
  const double* const end = scratch.alpha(steps - 1) + states;
  const double largest = std::max(end[-1], end[-2]);
  const double log_p =
      largest + std::log(std::exp(end[-1] - largest) + std::exp(end[-2] - largest));
  // Without a path the gradient is that of the softmax, as in TensorFlow.
  if (log_p < kCtcLogZero / 10) return std::numeric_limits<float>::infinity();

  // Here beta contains what its own step emits.
  double *beta = scratch.own(CtcScratch::kBeta), *next = scratch.own(CtcScratch::kNextBeta);
  for (int64_t t = steps - 1; t >= 0; --t) {
    emit(t);
    if (t + 1 == steps) {
      for (int64_t s = std::max<int64_t>(0, states - 2); s < states; ++s) beta[s] = emitted[s];
    } else {
      std::swap(beta, next);
      SumPaths(scratch, next, next + 1, next + 2, skip + 2, beta, states);
    }
    const double* const alpha = scratch.alpha(t);
    float* const of_state = scratch.terms;
    for (int64_t s = 0; s < states; ++s)
      of_state[s] = static_cast<float>(alpha[s] + beta[s] - emitted[s] - log_p);
    ExpShifted(of_state, 0, of_state, static_cast<size_t>(states));
    float* const out = gradient + t * stride;
    for (int64_t s = 0; s < states; s += 2) out[blank] -= of_state[s];
    for (int64_t i = 0; i < labels; ++i) out[label[i]] -= of_state[2 * i + 1];
  }
  return static_cast<float>(-log_p);
}

KernelPlan MakeCtcLoss(const KernelSpec& spec) {
  if (spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  const CtcSizes sizes(spec);
  // An exponential costs about as much as moving 8 floats, and a state takes about 10.
  const Chunks chunks =
      MakeChunks(sizes.batch, sizes.steps * (8 * sizes.classes + 80 * sizes.max_states()));
  const size_t bytes = CtcScratch::BytesOf(sizes);
  return MakeKernel(
      [sizes, chunks, bytes](const KernelArgs& args) {
        auto* const memory = static_cast<char*>(args.scratch);
        CtcLabels labels(sizes, memory + static_cast<size_t>(chunks.count) * bytes);
        EST_RETURN_IF_ERROR(labels.Read(args));
        ForEachItem(chunks, [&](int chunk, int64_t b) {
          const CtcScratch scratch(sizes, memory + static_cast<size_t>(chunk) * bytes);
          args.out<float>(0)[b] = CtcLossOf(sizes, labels.example(b), scratch, b, args.in<float>(0),
                                            args.out<float>(1));
        });
        return absl::OkStatus();
      },
      static_cast<size_t>(chunks.count) * bytes + sizes.scratch_bytes());
}

EST_REGISTER_KERNEL("CTCLoss", KernelTier::kFused, MakeCtcLoss);

}  // namespace
}  // namespace estimator::fused
