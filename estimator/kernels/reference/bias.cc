// BiasAdd and BiasAddGrad, along the last axis.
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

KernelPlan MakeBiasAdd(const KernelSpec& spec) {
  if (IsBlocked(spec.attrs)) return nullptr;
  const int64_t channels = spec.inputs[1].shape.dim(0);
  const int64_t rows = channels == 0 ? 0 : spec.inputs[0].shape.num_elements() / channels;
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [rows, channels](const KernelArgs& args) {
          const T* const x = args.in<T>(0);
          const T* const bias = args.in<T>(1);
          T* const out = args.out<T>(0);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < channels; ++c) {
              out[r * channels + c] =
                  static_cast<T>(static_cast<Acc>(x[r * channels + c]) + static_cast<Acc>(bias[c]));
            }
          }
        },
        /*scratch_bytes=*/0, /*alias_input=*/0);
  });
}

// These are long sums of small numbers, so they are computed in float64.
KernelPlan MakeBiasAddGrad(const KernelSpec& spec) {
  if (IsBlocked(spec.attrs)) return nullptr;
  const int64_t channels = spec.outputs[0].shape.dim(0);
  const int64_t rows = channels == 0 ? 0 : spec.inputs[0].shape.num_elements() / channels;
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [rows, channels](const KernelArgs& args) {
          const T* const grad = args.in<T>(0);
          double* const sums = static_cast<double*>(args.scratch);
          std::fill(sums, sums + channels, 0.0);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < channels; ++c)
              sums[c] += static_cast<double>(grad[r * channels + c]);
          }
          T* const out = args.out<T>(0);
          for (int64_t c = 0; c < channels; ++c)
            out[c] = static_cast<T>(static_cast<Accumulator<T>>(sums[c]));
        },
        static_cast<size_t>(channels) * sizeof(double));
  });
}

EST_REGISTER_KERNEL("BiasAdd", KernelTier::kReference, MakeBiasAdd);
EST_REGISTER_KERNEL("BiasAddGrad", KernelTier::kReference, MakeBiasAddGrad);

}  // namespace
}  // namespace estimator
