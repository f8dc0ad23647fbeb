// MirrorPad, MirrorPadGrad.
#include <algorithm>
#include <vector>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// For every element of the padded shape, the element of `inner` that it mirrors.
std::vector<int64_t> MirrorSources(const Shape& padded, const Shape& inner,
                                   const std::vector<int64_t>& paddings, bool reflect) {
  // The shapes are static, so the sources are found when the kernel is built and Run only copies.
  std::vector<int64_t> sources(static_cast<size_t>(padded.num_elements()));
  const std::vector<int64_t> padded_strides = padded.strides(), inner_strides = inner.strides();
  const int64_t edge = reflect ? 1 : 0;  // 1: the edge element is not repeated
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t axis = 0; axis < padded_strides.size(); ++axis) {
      const int64_t n = inner.dims()[axis];
      int64_t at =
          static_cast<int64_t>(i) / padded_strides[axis] % padded.dims()[axis] - paddings[2 * axis];
      // One reflection is enough: the op limits a padding to the size of its axis.
      if (at < 0) at = -at - 1 + edge;
      if (at >= n) at = 2 * n - 1 - edge - at;
      sources[i] += at * inner_strides[axis];
    }
  }
  return sources;
}

EST_REGISTER_KERNEL("MirrorPad", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  const auto paddings = ConstantInts(spec, 1);
  if (!paddings.has_value()) return nullptr;
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [sources = MirrorSources(spec.outputs[0].shape, spec.inputs[0].shape, *paddings,
                                 spec.attrs.s("mode") == "REFLECT")](const KernelArgs& args) {
          for (size_t i = 0; i < sources.size(); ++i) args.out<T>(0)[i] = args.in<T>(0)[sources[i]];
        });
  });
});

KernelPlan MakeMirrorPadGrad(const KernelSpec& spec) {
  const auto paddings = ConstantInts(spec, 1);
  if (!paddings.has_value()) return nullptr;
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.outputs[0].shape.num_elements();
    return MakeKernel(
        [n, sources = MirrorSources(spec.inputs[0].shape, spec.outputs[0].shape, *paddings,
                                    spec.attrs.s("mode") == "REFLECT")](const KernelArgs& args) {
          T* out = args.out<T>(0);
          std::fill_n(out, n, T(0.0f));
          for (size_t i = 0; i < sources.size(); ++i) {
            T& sum = out[sources[i]];
            sum = static_cast<T>(static_cast<Compute<T>>(sum) +
                                 static_cast<Compute<T>>(args.in<T>(0)[i]));
          }
        });
  });
}

EST_REGISTER_KERNEL("MirrorPadGrad", KernelTier::kReference, MakeMirrorPadGrad);

}  // namespace
}  // namespace estimator
