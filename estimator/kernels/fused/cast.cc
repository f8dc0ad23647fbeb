// Cast between f32 and bf16, and from u8, bool and i32 to both, on all threads.
#include <cstdint>
#include <type_traits>

#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

template <typename From, typename To>
void CastRun(const From* from, To* to, int64_t n) {
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Bfloat16>) {
    NarrowToBfloat16(from, to, static_cast<size_t>(n));
  } else if constexpr (std::is_same_v<From, Bfloat16> && std::is_same_v<To, float>) {
    WidenBfloat16(from, to, static_cast<size_t>(n));
  } else {
    // As in TensorFlow, an integer is rounded to float first.
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(static_cast<float>(from[i]));
  }
}

template <typename From, typename To>
KernelPlan MakeCast(const KernelSpec& spec) {
  const Chunks chunks = MakeChunks(spec.outputs[0].shape.num_elements());
  return MakeKernel([chunks](const KernelArgs& args) {
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
      CastRun(args.in<From>(0) + begin, args.out<To>(0) + begin, end - begin);
    });
  });
}

template <typename To>
KernelPlan MakeCastTo(const KernelSpec& spec) {
  const DType from = spec.inputs[0].dtype;
  // A bool is stored as 0 or 1.
  if (from == DType::kUint8 || from == DType::kBool) return MakeCast<uint8_t, To>(spec);
  return from == DType::kInt32 ? MakeCast<int32_t, To>(spec) : nullptr;
}

KernelPlan ChooseCast(const KernelSpec& spec) {
  // Here everything is rounded to nearest.
  if (spec.attrs.has("Truncate") && spec.attrs.b("Truncate")) return nullptr;
  const DType from = spec.inputs[0].dtype, to = spec.outputs[0].dtype;
  if (from == DType::kFloat32 && to == DType::kBfloat16) return MakeCast<float, Bfloat16>(spec);
  if (from == DType::kBfloat16 && to == DType::kFloat32) return MakeCast<Bfloat16, float>(spec);
  if (to == DType::kFloat32) return MakeCastTo<float>(spec);
  if (to == DType::kBfloat16) return MakeCastTo<Bfloat16>(spec);
  return nullptr;
}

EST_REGISTER_KERNEL("Cast", KernelTier::kFused, ChooseCast);

}  // namespace
}  // namespace estimator::fused
