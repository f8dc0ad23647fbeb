// _RandomGreaterEqual: GreaterEqual(RandomUniform(shape), limit) as bool, without the numbers. Its
// result has the bits that the two ops give.
//   shape: i32 or i64 [R], a constant.  limit: f32 [], a constant.
//   attributes: seed and seed2, as RandomUniform has them
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/random_stream.h"
#include "estimator/kernels/transformer/keep_mask.h"

namespace estimator::transformer {
namespace {

KernelPlan MakeRandomMask(const KernelSpec& spec) {
  if (spec.inputs.size() != 2 || spec.outputs.size() != 1 ||
      spec.outputs[0].dtype != DType::kBool || spec.inputs[1].dtype != DType::kFloat32)
    return nullptr;
  // The threshold is computed here, so that Run compares integers and makes no floats.
  if (spec.constants.size() < 2 || !spec.constants[1].has_value()) return nullptr;
  if (spec.constants[1]->num_elements() != 1) return nullptr;
  const int64_t size = spec.outputs[0].shape.num_elements();
  if (size == 0) return nullptr;
  // A uniform number is m / 2^23 with an integer m < 2^23. So it is at least `limit` if m is at
  // least limit * 2^23, which double represents exactly.
  const double limit = spec.constants[1]->AsDouble();
  // Other limits, and NaN, do not fit into the threshold. The two separate ops take them.
  if (!(limit >= 0 && limit <= 1)) return nullptr;
  const auto threshold = static_cast<uint32_t>(std::ceil(limit * 8388608.0));
  // Drawing a number costs about as much as moving two floats.
  const fused::Chunks chunks =
      fused::MakeChunks((size + kMaskBlock - 1) / kMaskBlock, 2 * kMaskBlock);
  return MakeKernel([size, threshold, stream = RandomStream(spec), chunks](const KernelArgs& args) {
    const uint64_t key = stream.Key(args.step);
    // Steps times elements are far below 2^56, so the lower half of the counter never overflows.
    const uint64_t counter =
        static_cast<uint64_t>(args.step.step) * kReservedPerNumber * static_cast<uint64_t>(size);
    uint8_t* const mask = args.out<uint8_t>(0);
    fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      const int64_t whole = std::min(end, size / kMaskBlock);
      KeepMaskBlocks(key, counter, stream.seed2(), threshold, begin, whole, mask);
      // The last block is not whole, and KeepMaskBlocks writes whole blocks only, so it goes
      // through a copy.
      if (whole == end) return;
      uint8_t rest[kMaskBlock];
      KeepMaskBlocks(key, counter + static_cast<uint64_t>(whole * kMaskBlock / 4), stream.seed2(),
                     threshold, 0, 1, rest);
      std::copy(rest, rest + (size - whole * kMaskBlock), mask + whole * kMaskBlock);
    });
  });
}

EST_REGISTER_KERNEL("_RandomGreaterEqual", KernelTier::kFused, MakeRandomMask);

}  // namespace
}  // namespace estimator::transformer
