// SelectV2: out = condition ? x : y, the three broadcast together.
#include <string>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

template <typename T>
KernelPlan MakeTypedSelect(const KernelSpec& spec) {
  const Shape& out_shape = spec.outputs[0].shape;
  const StridedWalk<3> walk(out_shape, {BroadcastStrides(spec.inputs[0].shape, out_shape),
                                        BroadcastStrides(spec.inputs[1].shape, out_shape),
                                        BroadcastStrides(spec.inputs[2].shape, out_shape)});
  if (!walk.ok()) return nullptr;
  return MakeKernel([walk](const KernelArgs& args) {
    const bool* condition = args.in<bool>(0);
    const T* x = args.in<T>(1);
    const T* y = args.in<T>(2);
    T* out = args.out<T>(0);
    walk.ForEach(
        [&](int64_t i, const auto& at) { out[i] = condition[at[0]] ? x[at[1]] : y[at[2]]; });
    return absl::OkStatus();
  });
}

EST_REGISTER_KERNEL("SelectV2", KernelTier::kReference, [](const KernelSpec& spec) {
  KernelPlan kernel;
  VisitNumeric(spec.outputs[0].dtype,
               [&](auto tag) { kernel = MakeTypedSelect<decltype(tag)>(spec); });
  if (spec.outputs[0].dtype == DType::kString) kernel = MakeTypedSelect<std::string>(spec);
  return kernel;
});

}  // namespace
}  // namespace estimator
