// Slice, StridedSlice, StridedSliceGrad, Pad, PadV2, MirrorPad, MirrorPadGrad.
#include <algorithm>
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/moves.h"
#include "estimator/kernels/slice_range.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("Slice", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto begin = ConstantInts(spec, 1);
                      if (!begin.has_value()) return nullptr;
                      const std::vector<int64_t> strides = spec.inputs[0].shape.strides();
                      int64_t base = 0;
                      for (size_t axis = 0; axis < strides.size(); ++axis)
                        base += (*begin)[axis] * strides[axis];
                      return GatherByStrides(spec, spec.outputs[0].shape, base, strides);
                    });

// The elements of `whole` that a StridedSlice takes. begin, end and strides are the operands from
// `first` on.
struct Taken {
  Shape shape;  // before axes are removed or added
  int64_t base = 0;
  std::vector<int64_t> strides;
};
std::optional<Taken> TakenBy(const KernelSpec& spec, const Shape& whole, int first) {
  const auto begin = ConstantInts(spec, first), end = ConstantInts(spec, first + 1),
             strides = ConstantInts(spec, first + 2);
  if (!begin.has_value() || !end.has_value() || !strides.has_value()) return std::nullopt;
  const absl::StatusOr<SliceLayout> layout = LayOutSlice(whole, *begin, *end, *strides, spec.attrs);
  if (!layout.ok()) return std::nullopt;
  Taken taken{layout->sizes(), 0, {}};
  const std::vector<int64_t> own = whole.strides();
  for (size_t i = 0; i < own.size(); ++i) {
    taken.base += layout->axes[i].begin * own[i];
    taken.strides.push_back(layout->axes[i].stride * own[i]);
  }
  if (taken.shape.num_elements() == 0) taken.base = 0;
  return taken;
}

EST_REGISTER_KERNEL("StridedSlice", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const std::optional<Taken> taken = TakenBy(spec, spec.inputs[0].shape, 1);
                      if (!taken.has_value()) return nullptr;
                      return GatherByStrides(spec, taken->shape, taken->base, taken->strides);
                    });

// Writes operand `input` to strided places of output 0. The other elements get the operand
// fill_input, or 0 if that is negative.
std::unique_ptr<Kernel> EmbedKernel(const KernelSpec& spec, int input, int fill_input,
                                    const Shape& shape, int64_t base,
                                    std::vector<int64_t> strides) {
  std::unique_ptr<Kernel> kernel;
  const StridedWalk<1> walk(shape, {std::move(strides)});
  if (!walk.ok()) return nullptr;
  const int64_t n = spec.outputs[0].shape.num_elements();
  VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeKernel([=](const KernelArgs& args) {
      T* out = args.out<T>(0);
      std::fill_n(out, n, fill_input < 0 ? T{} : *args.in<T>(fill_input));
      const T* x = args.in<T>(input);
      walk.ForEach([&](int64_t i, const auto& at) { out[base + at[0]] = x[i]; });
      return absl::OkStatus();
    });
  });
  return kernel;
}

EST_REGISTER_KERNEL("StridedSliceGrad", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const std::optional<Taken> taken = TakenBy(spec, spec.outputs[0].shape, 1);
                      if (!taken.has_value()) return nullptr;
                      return EmbedKernel(spec, 4, -1, taken->shape, taken->base, taken->strides);
                    });

std::unique_ptr<Kernel> PadKernel(const KernelSpec& spec) {
  const auto paddings = ConstantInts(spec, 1);
  if (!paddings.has_value()) return nullptr;
  const std::vector<int64_t> strides = spec.outputs[0].shape.strides();
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    base += (*paddings)[2 * axis] * strides[axis];
  const int fill_input = spec.inputs.size() > 2 ? 2 : -1;
  return EmbedKernel(spec, 0, fill_input, spec.inputs[0].shape, base, strides);
}
EST_REGISTER_KERNEL("Pad", KernelTier::kReference, PadKernel);
EST_REGISTER_KERNEL("PadV2", KernelTier::kReference, PadKernel);

// For every element of the padded shape, the element of `inner` that it mirrors.
std::vector<int64_t> MirrorSources(const Shape& padded, const Shape& inner,
                                   const std::vector<int64_t>& paddings, bool reflect) {
  std::vector<int64_t> sources(static_cast<size_t>(padded.num_elements()));
  const std::vector<int64_t> padded_strides = padded.strides(), inner_strides = inner.strides();
  const int64_t edge = reflect ? 1 : 0;  // 1: the edge element is not repeated
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t axis = 0; axis < padded_strides.size(); ++axis) {
      const int64_t n = inner.dims()[axis];
      int64_t at =
          static_cast<int64_t>(i) / padded_strides[axis] % padded.dims()[axis] - paddings[2 * axis];
      if (at < 0) at = -at - 1 + edge;
      if (at >= n) at = 2 * n - 1 - edge - at;
      sources[i] += at * inner_strides[axis];
    }
  }
  return sources;
}

EST_REGISTER_KERNEL("MirrorPad", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto paddings = ConstantInts(spec, 1);
                      if (!paddings.has_value()) return nullptr;
                      std::unique_ptr<Kernel> kernel;
                      VisitBySize(spec.inputs[0].dtype, [&](auto tag) {
                        using T = decltype(tag);
                        kernel = MakeKernel(
                            [sources = MirrorSources(spec.outputs[0].shape, spec.inputs[0].shape,
                                                     *paddings, spec.attrs.s("mode") == "REFLECT")](
                                const KernelArgs& args) {
                              for (size_t i = 0; i < sources.size(); ++i)
                                args.out<T>(0)[i] = args.in<T>(0)[sources[i]];
                              return absl::OkStatus();
                            });
                      });
                      return kernel;
                    });

EST_REGISTER_KERNEL("MirrorPadGrad", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto paddings = ConstantInts(spec, 1);
                      if (!paddings.has_value()) return nullptr;
                      std::unique_ptr<Kernel> kernel;
                      VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
                        using T = decltype(tag);
                        if constexpr (kIsFloatingType<T>) {
                          const int64_t n = spec.outputs[0].shape.num_elements();
                          kernel = MakeKernel(
                              [n, sources = MirrorSources(
                                      spec.inputs[0].shape, spec.outputs[0].shape, *paddings,
                                      spec.attrs.s("mode") == "REFLECT")](const KernelArgs& args) {
                                T* out = args.out<T>(0);
                                std::fill_n(out, n, T(0.0f));
                                for (size_t i = 0; i < sources.size(); ++i) {
                                  T& sum = out[sources[i]];
                                  sum = static_cast<T>(static_cast<Compute<T>>(sum) +
                                                       static_cast<Compute<T>>(args.in<T>(0)[i]));
                                }
                                return absl::OkStatus();
                              });
                        }
                      });
                      return kernel;
                    });

}  // namespace
}  // namespace estimator
