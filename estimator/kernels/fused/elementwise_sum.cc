// _FusedElementwiseSum: _FusedElementwise, and the sums of one of its values over all axes but the
// last. If the value is the gradient of a bias's result, the sums are the gradient of the bias, and
// the value itself need not be written unless another op reads it.
//
// Attributes: those of _FusedElementwise (elementwise.h), and
//   sum   the index of the value to sum; it has the outputs' shape, and is f32 or bf16
// The sums are the last output, [channels], f32 or bf16. `outputs` does not have them.
// They are added in the order of BiasAddGrad (bias.cc), so they have the same bits.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "estimator/kernels/fused/elementwise.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {
namespace {

class ElementwiseSumKernel final : public Kernel {
 public:
  static KernelPlan Create(const KernelSpec& spec) {
    if (spec.outputs.size() < 2) return nullptr;
    if (spec.attrs.i("sum") < 0) return nullptr;  // CreateObserved takes it as no sum
    KernelSpec chain_spec = spec;
    chain_spec.outputs.pop_back();
    const Shape& shape = spec.outputs[0].shape;
    const TensorSpec& sums = spec.outputs.back();
    if (sums.dtype != DType::kFloat32 && sums.dtype != DType::kBfloat16) return nullptr;
    if (shape.rank() < 1 || shape.num_elements() == 0 || !(sums.shape == Shape{shape[-1]}))
      return nullptr;
    // The chain shows each tile of the value while it is in the L1 cache, so the value need not be
    // written to memory.
    auto chain = ElementwiseKernel::CreateObserved(chain_spec, spec.attrs.i("sum"));
    if (chain == nullptr) return nullptr;
    return std::unique_ptr<Kernel>(
        new ElementwiseSumKernel(std::move(chain), PlanesOf(shape, /*blocked=*/false), sums.dtype,
                                 static_cast<int>(chain_spec.outputs.size())));
  }

  absl::Status Run(const KernelArgs& args) override {
    char* const tiles = static_cast<char*>(args.scratch) + SumBytes();
    const int64_t channels = channels_;
    sums_.RunInChunks(
        args.scratch, [&](int chunk, int64_t begin, int64_t end, int64_t, float* run) {
          const auto add = [channels, run](const float* tile, int64_t first, int64_t n) {
            AddTile(tile, first % channels, n, channels, run);
          };
          const ElementwiseKernel::Observer observer = add;
          // The chunks are those of BiasAddGrad, so that the sums have its bits.
          chain_->RunRange(args, tiles + static_cast<size_t>(chunk) * chain_->RangeScratchBytes(),
                           begin * channels, end * channels, &observer);
        });
    const double* const total = sums_.total(args.scratch);
    for (int64_t c = 0; c < channels; ++c) {
      const auto sum = static_cast<float>(total[c]);
      if (dtype_ == DType::kFloat32) {
        args.out<float>(sum_output_)[c] = sum;
      } else {
        args.out<Bfloat16>(sum_output_)[c] = static_cast<Bfloat16>(sum);
      }
    }
    return absl::OkStatus();
  }
  size_t scratch_bytes() const override {
    return SumBytes() + static_cast<size_t>(sums_.chunks().count) * chain_->RangeScratchBytes();
  }
  int AliasInput(int output) const override {
    return output == sum_output_ ? -1 : chain_->AliasInput(output);
  }

 private:
  ElementwiseSumKernel(std::unique_ptr<ElementwiseKernel> chain, const ChannelPlanes& planes,
                       DType dtype, int sum_output)
      : chain_(std::move(chain)),
        sums_(planes),
        channels_(planes.width),
        dtype_(dtype),
        sum_output_(sum_output) {}

  // Adds four rows one after the other, with the sums of a column in a register.
  static void AddFourRows(const float* rows, int64_t channels, float* sums) {
    const float *const second = rows + channels, *const third = second + channels,
                       *const fourth = third + channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c)
      sums[c] = (((sums[c] + rows[c]) + second[c]) + third[c]) + fourth[c];
  }
  // Adds n elements to sums, [channels]. The first one belongs to `channel`. A tile may begin and
  // end within a row.
  static void AddTile(const float* tile, int64_t channel, int64_t n, int64_t channels,
                      float* sums) {
    for (int64_t i = 0; i < n;) {
      if (channel == 0 && n - i >= 4 * channels) {
        AddFourRows(tile + i, channels, sums);
        i += 4 * channels;
        continue;
      }
      const int64_t count = std::min(n - i, channels - channel);
      float* const to = sums + channel;
#pragma omp simd
      for (int64_t c = 0; c < count; ++c) to[c] += tile[i + c];
      i += count;
      channel = 0;
    }
  }

  size_t SumBytes() const { return AlignedBytes(sums_.bytes()); }

  const std::unique_ptr<ElementwiseKernel> chain_;
  const ChannelSums<1> sums_;
  const int64_t channels_;
  const DType dtype_;
  const int sum_output_;
};

EST_REGISTER_KERNEL("_FusedElementwiseSum", KernelTier::kFused, ElementwiseSumKernel::Create);

}  // namespace
}  // namespace estimator::fused
