// BiasAdd and BiasAddGrad in f32, along the last axis, on all threads.
#include <cstdint>
#include <memory>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

// The size of the last axis, or 0 where this tier does not do the spec.
int64_t Channels(const KernelSpec& spec) {
  const TensorSpec& x = spec.inputs[0];
  if (x.dtype != DType::kFloat32 || x.shape.rank() < 2 || x.shape.num_elements() == 0) return 0;
  if (spec.attrs.has("data_format") && spec.attrs.s("data_format") != "NHWC") return 0;
  return x.shape[-1];
}

std::unique_ptr<Kernel> MakeBiasAdd(const KernelSpec& spec) {
  const int64_t channels = Channels(spec);
  if (channels == 0) return nullptr;
  const Chunks chunks = MakeChunks(spec.inputs[0].shape.num_elements() / channels, channels);
  return MakeFusedKernel(
      [chunks, channels](const KernelArgs& args) {
        ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
          const float* const bias = args.in<float>(1);
          for (int64_t r = begin; r < end; ++r) {
            const float* const x = args.in<float>(0) + r * channels;
            float* const y = args.out<float>(0) + r * channels;
#pragma omp simd
            for (int64_t c = 0; c < channels; ++c) y[c] = x[c] + bias[c];
          }
        });
        return absl::OkStatus();
      },
      {.alias_input = 0});
}

std::unique_ptr<Kernel> MakeBiasAddGrad(const KernelSpec& spec) {
  const int64_t channels = Channels(spec);
  if (channels == 0) return nullptr;
  const ColumnSums<1> sums(spec.inputs[0].shape.num_elements() / channels, channels);
  return MakeFusedKernel(
      [sums, channels](const KernelArgs& args) {
        const float* const dy = args.in<float>(0);
        sums.Run(args.scratch, [&](int64_t row, float* run) {
          const float* const x = dy + row * channels;
#pragma omp simd
          for (int64_t c = 0; c < channels; ++c) run[c] += x[c];
        });
        const double* const total = sums.total(args.scratch);
        for (int64_t c = 0; c < channels; ++c) args.out<float>(0)[c] = static_cast<float>(total[c]);
        return absl::OkStatus();
      },
      {.scratch_bytes = sums.bytes()});
}

EST_REGISTER_KERNEL("BiasAdd", KernelTier::kFused, MakeBiasAdd);
EST_REGISTER_KERNEL("BiasAddGrad", KernelTier::kFused, MakeBiasAddGrad);

}  // namespace
}  // namespace estimator::fused
