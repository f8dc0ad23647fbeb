// AddN.
#include "absl/types/span.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/number.h"

namespace estimator {
namespace {

// Adds the inputs one after the other.
template <typename T>
void AddAll(absl::Span<const void* const> inputs, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    Number<Compute<T>> sum = static_cast<Compute<T>>(static_cast<const T*>(inputs[0])[i]);
    for (const void* input : inputs.subspan(1))
      sum = sum + static_cast<Compute<T>>(static_cast<const T*>(input)[i]);
    static_cast<T*>(out)[i] = static_cast<T>(sum.value());
  }
}

EST_REGISTER_KERNEL("AddN", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  void (*add)(absl::Span<const void* const>, void*, int64_t) = nullptr;
  VisitNumeric(spec.outputs[0].dtype, [&add](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsNumberType<T>) add = AddAll<T>;
  });
  if (add == nullptr) return nullptr;
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([n, add](const KernelArgs& args) {
    add(args.inputs, args.outputs[0], n);
    return absl::OkStatus();
  });
});

}  // namespace
}  // namespace estimator
