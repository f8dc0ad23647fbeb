// Comparisons and logic with broadcasting.
#include <functional>
#include <string>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

template <typename T, typename Fn>
std::unique_ptr<Kernel> MakeTyped(const KernelSpec& spec, Fn fn) {
  const Shape& out_shape = spec.outputs[0].shape;
  const StridedWalk<2> walk(out_shape, {BroadcastStrides(spec.inputs[0].shape, out_shape),
                                        BroadcastStrides(spec.inputs[1].shape, out_shape)});
  if (!walk.ok()) return nullptr;
  return MakeKernel([walk, fn](const KernelArgs& args) {
    const T* x = args.in<T>(0);
    const T* y = args.in<T>(1);
    bool* out = args.out<bool>(0);
    walk.ForEach([&](int64_t i, const auto& at) {
      if constexpr (std::is_same_v<T, std::string>) {
        out[i] = fn(x[at[0]], y[at[1]]);
      } else {
        out[i] = fn(static_cast<Compute<T>>(x[at[0]]), static_cast<Compute<T>>(y[at[1]]));
      }
    });
    return absl::OkStatus();
  });
}

template <typename Fn>
KernelFactory Compared(Fn fn) {
  return [fn](const KernelSpec& spec) {
    std::unique_ptr<Kernel> kernel;
    VisitNumeric(spec.inputs[0].dtype,
                 [&](auto tag) { kernel = MakeTyped<decltype(tag)>(spec, fn); });
    if (spec.inputs[0].dtype == DType::kString) kernel = MakeTyped<std::string>(spec, fn);
    return kernel;
  };
}

template <typename Fn>
KernelFactory Logical(Fn fn) {
  return [fn](const KernelSpec& spec) { return MakeTyped<bool>(spec, fn); };
}

EST_REGISTER_KERNEL("Equal", KernelTier::kReference, Compared(std::equal_to<>()));
EST_REGISTER_KERNEL("NotEqual", KernelTier::kReference, Compared(std::not_equal_to<>()));
EST_REGISTER_KERNEL("Less", KernelTier::kReference, Compared(std::less<>()));
EST_REGISTER_KERNEL("LessEqual", KernelTier::kReference, Compared(std::less_equal<>()));
EST_REGISTER_KERNEL("Greater", KernelTier::kReference, Compared(std::greater<>()));
EST_REGISTER_KERNEL("GreaterEqual", KernelTier::kReference, Compared(std::greater_equal<>()));
EST_REGISTER_KERNEL("LogicalAnd", KernelTier::kReference, Logical(std::logical_and<>()));
EST_REGISTER_KERNEL("LogicalOr", KernelTier::kReference, Logical(std::logical_or<>()));

EST_REGISTER_KERNEL("LogicalNot", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([n](const KernelArgs& args) {
    for (int64_t i = 0; i < n; ++i) args.out<bool>(0)[i] = !args.in<bool>(0)[i];
    return absl::OkStatus();
  });
});

}  // namespace
}  // namespace estimator
