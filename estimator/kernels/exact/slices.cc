// Copies with a stride for each axis, on all threads: Slice, StridedSlice, Tile, ReverseV2,
// BroadcastTo, and the other way StridedSliceGrad, Pad and PadV2.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/slice_range.h"

namespace estimator {
namespace {

KernelPlan MakeSlice(const KernelSpec& spec) {
  const auto begin = ConstantInts(spec, 1);
  if (!begin.has_value()) return nullptr;
  const std::vector<int64_t> strides = spec.inputs[0].shape.strides();
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) base += (*begin)[axis] * strides[axis];
  return CopyByStrides(spec, spec.outputs[0].shape, base, strides);
}

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
  // The begin of an empty range may be the end of the axis, and an address beyond the tensor is
  // invalid even if nothing is read.
  if (taken.shape.num_elements() == 0) taken.base = 0;
  return taken;
}

KernelPlan MakeStridedSlice(const KernelSpec& spec) {
  const std::optional<Taken> taken = TakenBy(spec, spec.inputs[0].shape, 1);
  if (!taken.has_value()) return nullptr;
  return CopyByStrides(spec, taken->shape, taken->base, taken->strides);
}

KernelPlan MakeReverse(const KernelSpec& spec) {
  const auto axes = ConstantInts(spec, 1);
  if (!axes.has_value()) return nullptr;
  const Shape& shape = spec.inputs[0].shape;
  std::vector<int64_t> strides = shape.strides();
  int64_t base = 0;
  for (const int64_t given : *axes) {
    const auto axis = static_cast<size_t>(WrapAxis(given, shape.rank()));
    // Reading starts at the last element, which an empty axis does not have.
    if (shape.dims()[axis] > 0) base += (shape.dims()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return CopyByStrides(spec, shape, base, strides);
}

KernelPlan MakeTile(const KernelSpec& spec) {
  const auto multiples = ConstantInts(spec, 1);
  if (!multiples.has_value()) return nullptr;
  const Shape& from = spec.inputs[0].shape;
  const std::vector<int64_t> own = from.strides();
  Shape shape;  // two axes for each axis: the repetitions, then the elements
  std::vector<int64_t> strides;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    shape.push_back((*multiples)[axis]);
    shape.push_back(from.dims()[axis]);
    strides.push_back(0);
    strides.push_back(own[axis]);
  }
  return CopyByStrides(spec, shape, 0, strides);
}

KernelPlan MakeBroadcastTo(const KernelSpec& spec) {
  const Shape& to = spec.outputs[0].shape;
  return CopyByStrides(spec, to, 0, BroadcastStrides(spec.inputs[0].shape, to));
}

// Writes operand `input` to strided places of output 0, from `base` on. The other elements get the
// operand fill_input, or 0 if that is negative.
KernelPlan EmbedKernel(const KernelSpec& spec, int input, int fill_input, const Shape& shape,
                       int64_t base, std::vector<int64_t> strides) {
  const StridedRows<1> rows(shape, {std::move(strides)});
  if (!rows.ok() || spec.outputs[0].dtype == DType::kString) return nullptr;
  const fused::Chunks all = fused::MakeChunks(spec.outputs[0].shape.num_elements());
  return VisitElement(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([=](const KernelArgs& args) {
      T* const out = args.out<T>(0);
      const T value = fill_input < 0 ? T{} : *args.in<T>(fill_input);
      // All is filled first: that is faster than finding the places that get no element.
      fused::ParallelFor(
          all, [&](int, int64_t begin, int64_t end) { std::fill(out + begin, out + end, value); });
      const int64_t stride = rows.strides()[0];
      rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
        const T* const from = args.in<T>(input) + i;
        T* const to = out + base + at[0];
        if (stride == 1) return CopyElements(from, count, to);
        for (int64_t k = 0; k < count; ++k) to[k * stride] = from[k];
      });
    });
  });
}

KernelPlan MakeStridedSliceGrad(const KernelSpec& spec) {
  const std::optional<Taken> taken = TakenBy(spec, spec.outputs[0].shape, 1);
  if (!taken.has_value()) return nullptr;
  return EmbedKernel(spec, 4, -1, taken->shape, taken->base, taken->strides);
}

KernelPlan MakePad(const KernelSpec& spec) {
  const auto paddings = ConstantInts(spec, 1);
  if (!paddings.has_value()) return nullptr;
  const std::vector<int64_t> strides = spec.outputs[0].shape.strides();
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    base += (*paddings)[2 * axis] * strides[axis];
  const int fill_input = spec.inputs.size() > 2 ? 2 : -1;
  return EmbedKernel(spec, 0, fill_input, spec.inputs[0].shape, base, strides);
}

EST_REGISTER_EXACT_KERNEL("Slice", MakeSlice);
EST_REGISTER_EXACT_KERNEL("StridedSlice", MakeStridedSlice);
EST_REGISTER_EXACT_KERNEL("StridedSliceGrad", MakeStridedSliceGrad);
EST_REGISTER_EXACT_KERNEL("ReverseV2", MakeReverse);
EST_REGISTER_EXACT_KERNEL("Tile", MakeTile);
EST_REGISTER_EXACT_KERNEL("BroadcastTo", MakeBroadcastTo);
EST_REGISTER_EXACT_KERNEL("Pad", MakePad);
EST_REGISTER_EXACT_KERNEL("PadV2", MakePad);

}  // namespace
}  // namespace estimator
