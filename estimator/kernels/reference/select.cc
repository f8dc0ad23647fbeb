// SelectV2: out = condition ? x : y, the three broadcast together.
#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

template <typename T>
KernelPlan MakeTypedSelect(const KernelSpec& spec) {
  const Shape& out_shape = spec.outputs[0].shape;
  const StridedRows<3> rows(out_shape, {BroadcastStrides(spec.inputs[0].shape, out_shape),
                                        BroadcastStrides(spec.inputs[1].shape, out_shape),
                                        BroadcastStrides(spec.inputs[2].shape, out_shape)});
  if (!rows.ok()) return nullptr;
  return MakeKernel([rows](const KernelArgs& args) {
    const bool* condition = args.in<bool>(0);
    const T* x = args.in<T>(1);
    const T* y = args.in<T>(2);
    T* out = args.out<T>(0);
    rows.ForEachElementInOrder(
        [&](int64_t i, const auto& at) { out[i] = condition[at[0]] ? x[at[1]] : y[at[2]]; });
  });
}

EST_REGISTER_KERNEL("SelectV2", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitElement(spec.outputs[0].dtype,
                      [&](auto tag) { return MakeTypedSelect<decltype(tag)>(spec); });
});

}  // namespace
}  // namespace estimator
