// BiasAdd and BiasAddGrad in f32 on all threads. The channels are the last axis, or are in blocks
// (kernels/layout.h).
#include <cstdint>
#include <memory>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {
namespace {

// The planes have width 0 if this tier does not support the spec.
ChannelPlanes PlanesOf(const KernelSpec& spec) {
  const TensorSpec& x = spec.inputs[0];
  if (x.dtype != DType::kFloat32 || x.shape.rank() < 2 || x.shape.num_elements() == 0) return {};
  const bool blocked = IsBlocked(spec.attrs);
  if (blocked && x.shape.rank() != 5) return {};
  if (!blocked && spec.attrs.has("data_format") && spec.attrs.s("data_format") != kPlainFormat)
    return {};
  return estimator::PlanesOf(x.shape, blocked);
}

template <int64_t kWidth>
void AddBias(const float* x, const float* bias, int64_t begin, int64_t end, int64_t width,
             float* y) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) y[e + c] = x[e + c] + bias[c];
  }
}

template <int64_t kWidth>
void AddRows(const float* x, int64_t begin, int64_t end, int64_t width, float* sums) {
  const int64_t w = kWidth == 0 ? width : kWidth;
  for (int64_t e = begin * w; e < end * w; e += w) {
#pragma omp simd
    for (int64_t c = 0; c < w; ++c) sums[c] += x[e + c];
  }
}

std::unique_ptr<Kernel> MakeBiasAdd(const KernelSpec& spec) {
  const ChannelPlanes planes = PlanesOf(spec);
  if (planes.width == 0) return nullptr;
  const Chunks chunks = MakeChunks(planes.planes() * planes.rows, planes.width);
  return MakeFusedKernel(
      [planes, chunks](const KernelArgs& args) {
        WithWidth(planes.width, [&](auto width) {
          ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
            ChannelSums<1>::ForEachPiece(
                planes, begin, end, planes.rows, [&](int64_t first, int64_t last, int64_t channel) {
                  AddBias<width()>(args.in<float>(0), args.in<float>(1) + channel, first, last,
                                   planes.width, args.out<float>(0));
                });
          });
        });
        return absl::OkStatus();
      },
      {.alias_input = 0});
}

std::unique_ptr<Kernel> MakeBiasAddGrad(const KernelSpec& spec) {
  const ChannelPlanes planes = PlanesOf(spec);
  if (planes.width == 0) return nullptr;
  const ChannelSums<1> sums(planes);
  return MakeFusedKernel(
      [sums, planes](const KernelArgs& args) {
        WithWidth(planes.width, [&](auto width) {
          sums.Run(args.scratch, [&](int64_t begin, int64_t end, int64_t, float* run) {
            AddRows<width()>(args.in<float>(0), begin, end, planes.width, run);
          });
        });
        const double* const total = sums.total(args.scratch);
        for (int64_t c = 0; c < planes.channels(); ++c)
          args.out<float>(0)[c] = static_cast<float>(total[c]);
        return absl::OkStatus();
      },
      {.scratch_bytes = sums.bytes()});
}

EST_REGISTER_KERNEL("BiasAdd", KernelTier::kFused, MakeBiasAdd);
EST_REGISTER_KERNEL("BiasAddGrad", KernelTier::kFused, MakeBiasAddGrad);

}  // namespace
}  // namespace estimator::fused
