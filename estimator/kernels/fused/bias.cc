// BiasAdd and BiasAddGrad in f32 and bf16 on all threads; sums are f32 and f64. The channels are
// the last axis, or are in blocks (kernels/layout.h).
#include <cstdint>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

template <int64_t kWidth, typename T>
void AddBias(const T* x, const T* bias, int64_t begin, int64_t end, int64_t width, T* y) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c)
      y[e + c] = static_cast<T>(static_cast<float>(x[e + c]) + static_cast<float>(bias[c]));
  }
}

template <int64_t kWidth, typename T>
void AddRows(const T* x, int64_t begin, int64_t end, int64_t width, float* sums) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) sums[c] += static_cast<float>(x[e + c]);
  }
}

template <typename T>
KernelPlan MakeTypedBiasAdd(const KernelSpec& spec) {
  const ChannelPlanes planes = ImagePlanes(spec.attrs, spec.inputs[0]);
  if (planes.width == 0) return nullptr;
  const Chunks chunks = MakeChunks(planes.planes() * planes.rows, planes.width);
  return MakeKernel(
      [planes, chunks](const KernelArgs& args) {
        WithWidth(planes.width, [&](auto width) {
          ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
            ChannelSums<1>::ForEachPiece(
                planes, begin, end, planes.rows, [&](int64_t first, int64_t last, int64_t channel) {
                  AddBias<width()>(args.in<T>(0), args.in<T>(1) + channel, first, last,
                                   planes.width, args.out<T>(0));
                });
          });
        });
      },
      /*scratch_bytes=*/0, /*alias_input=*/0);
}

// The gradient of a bf16 bias may be f32 (passes/fusion/fuse.h, FuseCast).
template <typename T, typename Result>
KernelPlan MakeTypedBiasAddGrad(const KernelSpec& spec) {
  const ChannelPlanes planes = ImagePlanes(spec.attrs, spec.inputs[0]);
  if (planes.width == 0) return nullptr;
  const ChannelSums<1> sums(planes);
  return MakeKernel(
      [sums, planes](const KernelArgs& args) {
        WithWidth(planes.width, [&](auto width) {
          sums.Run(args.scratch, [&](int64_t begin, int64_t end, int64_t, float* run) {
            AddRows<width()>(args.in<T>(0), begin, end, planes.width, run);
          });
        });
        const double* const total = sums.total(args.scratch);
        // To float first, as in the reference kernel: one rounding from f64 to bf16 could give
        // other bits.
        for (int64_t c = 0; c < planes.channels(); ++c)
          args.out<Result>(0)[c] = static_cast<Result>(static_cast<float>(total[c]));
      },
      sums.bytes());
}

KernelPlan MakeBiasAdd(const KernelSpec& spec) {
  const DType dtype = spec.inputs[0].dtype;
  if (spec.inputs[1].dtype != dtype || spec.outputs[0].dtype != dtype) return nullptr;
  return dtype == DType::kBfloat16 ? MakeTypedBiasAdd<Bfloat16>(spec)
                                   : MakeTypedBiasAdd<float>(spec);
}

KernelPlan MakeBiasAddGrad(const KernelSpec& spec) {
  const DType result = spec.outputs[0].dtype;
  if (spec.inputs[0].dtype == DType::kFloat32)
    return result == DType::kFloat32 ? MakeTypedBiasAddGrad<float, float>(spec) : nullptr;
  if (result == DType::kFloat32) return MakeTypedBiasAddGrad<Bfloat16, float>(spec);
  return result == DType::kBfloat16 ? MakeTypedBiasAddGrad<Bfloat16, Bfloat16>(spec) : nullptr;
}

EST_REGISTER_KERNEL("BiasAdd", KernelTier::kFused, MakeBiasAdd);
EST_REGISTER_KERNEL("BiasAddGrad", KernelTier::kFused, MakeBiasAddGrad);

}  // namespace
}  // namespace estimator::fused
