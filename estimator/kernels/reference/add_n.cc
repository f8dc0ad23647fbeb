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

EST_REGISTER_KERNEL("AddN", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  return VisitNumbers(spec.outputs[0].dtype, [n](auto tag) {
    using T = decltype(tag);
    return MakeKernel([n](const KernelArgs& args) { AddAll<T>(args.inputs, args.outputs[0], n); });
  });
});

}  // namespace
}  // namespace estimator
