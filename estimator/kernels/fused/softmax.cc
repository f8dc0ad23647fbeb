// Softmax, LogSoftmax and the softmax cross entropies in f32 along the last axis, on all threads. A
// row stays in the L1 cache while its maximum, exponentials and sum are computed.
#include <cmath>
#include <cstdint>

#include "estimator/base/status.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"

namespace estimator::fused {
namespace {

float Maximum(const float* x, int64_t n) {
  float maximum = x[0];
#pragma omp simd reduction(max : maximum)
  for (int64_t i = 1; i < n; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

// e[i] = exp(x[i] - shift). Returns their sum. `e` may be x.
float Exponentials(const float* x, float shift, float* e, int64_t n) {
  ExpShifted(x, shift, e, static_cast<size_t>(n));
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += e[i];
  return sum;
}

struct SoftmaxRows {
  Chunks chunks;
  int64_t classes = 0;  // 0: this tier does not support the spec
};

SoftmaxRows RowsOf(const KernelSpec& spec) {
  const TensorSpec& x = spec.inputs[0];
  if (x.dtype != DType::kFloat32 || x.shape.rank() < 1 || x.shape.num_elements() == 0) return {};
  constexpr int64_t kExpCost = 8;  // an exponential costs about as much as moving 8 floats
  return {MakeChunks(x.shape.num_elements() / x.shape[-1], x.shape[-1] * kExpCost), x.shape[-1]};
}

KernelPlan MakeSoftmax(const KernelSpec& spec) {
  const SoftmaxRows rows = RowsOf(spec);
  if (rows.classes == 0) return nullptr;
  return MakeKernel(
      [rows](const KernelArgs& args) {
        ForEachItem(rows.chunks, [&](int, int64_t r) {
          const float* const x = args.in<float>(0) + r * rows.classes;
          float* const y = args.out<float>(0) + r * rows.classes;
          // The maximum is subtracted, so that no exponential overflows and one of them is 1: the
          // sum is not 0.
          const float scale = 1.0f / Exponentials(x, Maximum(x, rows.classes), y, rows.classes);
#pragma omp simd
          for (int64_t c = 0; c < rows.classes; ++c) y[c] *= scale;
        });
      },
      /*scratch_bytes=*/0, /*alias_input=*/0);
}

KernelPlan MakeLogSoftmax(const KernelSpec& spec) {
  const SoftmaxRows rows = RowsOf(spec);
  if (rows.classes == 0) return nullptr;
  // y must not take the buffer of x: it holds the exponentials while x is still read.
  return MakeKernel([rows](const KernelArgs& args) {
    ForEachItem(rows.chunks, [&](int, int64_t r) {
      const float* const x = args.in<float>(0) + r * rows.classes;
      float* const y = args.out<float>(0) + r * rows.classes;
      const float maximum = Maximum(x, rows.classes);
      // The exponentials are needed only for their sum; y is used as memory for them.
      const float log_sum = std::log(Exponentials(x, maximum, y, rows.classes));
#pragma omp simd
      for (int64_t c = 0; c < rows.classes; ++c) y[c] = x[c] - maximum - log_sum;
    });
  });
}

KernelPlan MakeCrossEntropy(const KernelSpec& spec) {
  const SoftmaxRows rows = RowsOf(spec);
  if (rows.classes == 0 || !(spec.inputs[1] == spec.inputs[0])) return nullptr;
  return MakeKernel([rows](const KernelArgs& args) {
    ForEachItem(rows.chunks, [&](int, int64_t r) {
      const float* const x = args.in<float>(0) + r * rows.classes;
      const float* const labels = args.in<float>(1) + r * rows.classes;
      float* const backprop = args.out<float>(1) + r * rows.classes;
      const float maximum = Maximum(x, rows.classes);
      const float sum = Exponentials(x, maximum, backprop, rows.classes);
      const float log_sum = std::log(sum), scale = 1.0f / sum;
      float loss = 0;
      // A class with weight 0 does not count, even if its logit is infinite.
#pragma omp simd reduction(+ : loss)
      for (int64_t c = 0; c < rows.classes; ++c) {
        loss += labels[c] != 0 ? labels[c] * (log_sum - (x[c] - maximum)) : 0.0f;
        backprop[c] = backprop[c] * scale - labels[c];
      }
      args.out<float>(0)[r] = loss;
    });
  });
}

template <typename Label>
KernelPlan MakeSparse(const SoftmaxRows& rows) {
  return MakeKernel([rows](const KernelArgs& args) {
    const Label* const labels = args.in<Label>(1);
    // Labels are checked before the threads start, so that the error names the first bad row.
    for (int64_t r = 0; r < rows.chunks.items; ++r) {
      const int64_t label = static_cast<int64_t>(labels[r]);
      if (label < 0 || label >= rows.classes) {
        return InvalidArgument(PositionText("row ", r, rows.chunks.items, args.step), " has label ",
                               label, ", but there are ", rows.classes,
                               " classes: labels must be in [0, ", rows.classes, ")");
      }
    }
    ForEachItem(rows.chunks, [&](int, int64_t r) {
      const float* const x = args.in<float>(0) + r * rows.classes;
      float* const backprop = args.out<float>(1) + r * rows.classes;
      const float maximum = Maximum(x, rows.classes);
      const float sum = Exponentials(x, maximum, backprop, rows.classes);
      const float scale = 1.0f / sum;
      args.out<float>(0)[r] = std::log(sum) - (x[labels[r]] - maximum);
#pragma omp simd
      for (int64_t c = 0; c < rows.classes; ++c) backprop[c] *= scale;
      backprop[labels[r]] -= 1.0f;
    });
    return absl::OkStatus();
  });
}

KernelPlan MakeSparseCrossEntropy(const KernelSpec& spec) {
  const SoftmaxRows rows = RowsOf(spec);
  if (rows.classes == 0) return nullptr;
  if (spec.inputs[1].dtype == DType::kInt32) return MakeSparse<int32_t>(rows);
  if (spec.inputs[1].dtype == DType::kInt64) return MakeSparse<int64_t>(rows);
  return nullptr;
}

EST_REGISTER_KERNEL("Softmax", KernelTier::kFused, MakeSoftmax);
EST_REGISTER_KERNEL("LogSoftmax", KernelTier::kFused, MakeLogSoftmax);
EST_REGISTER_KERNEL("SoftmaxCrossEntropyWithLogits", KernelTier::kFused, MakeCrossEntropy);
EST_REGISTER_KERNEL("SparseSoftmaxCrossEntropyWithLogits", KernelTier::kFused,
                    MakeSparseCrossEntropy);

}  // namespace
}  // namespace estimator::fused
