// Cast between f32 and bf16, and from u8, bool and i32 to f32, on all threads.
#include <cstdint>
#include <memory>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

template <typename From, typename To>
std::unique_ptr<Kernel> MakeCast(const KernelSpec& spec) {
  const Chunks chunks = MakeChunks(spec.outputs[0].shape.num_elements());
  return MakeFusedKernel([chunks](const KernelArgs& args) {
    const From* const from = args.in<From>(0);
    To* const to = args.out<To>(0);
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<To>(from[i]);
    });
    return absl::OkStatus();
  });
}

std::unique_ptr<Kernel> ChooseCast(const KernelSpec& spec) {
  if (spec.attrs.has("Truncate") && spec.attrs.b("Truncate")) return nullptr;
  const DType from = spec.inputs[0].dtype, to = spec.outputs[0].dtype;
  if (from == DType::kFloat32 && to == DType::kBfloat16) return MakeCast<float, Bfloat16>(spec);
  if (to != DType::kFloat32) return nullptr;
  switch (from) {
    case DType::kBfloat16:
      return MakeCast<Bfloat16, float>(spec);
    case DType::kUint8:
      return MakeCast<uint8_t, float>(spec);
    case DType::kBool:
      return MakeCast<uint8_t, float>(spec);  // stored as 0 or 1
    case DType::kInt32:
      return MakeCast<int32_t, float>(spec);
    default:
      return nullptr;
  }
}

EST_REGISTER_KERNEL("Cast", KernelTier::kFused, ChooseCast);

}  // namespace
}  // namespace estimator::fused
