// ConcatV2 and Pack, which join tensors along an axis; Split, SplitV and Unpack, which divide them.
// On all threads.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// A tensor that is made of parts along an axis: [outer, width of all parts], in which each of the
// `outer` rows has a piece of every part.
class Joined {
 public:
  //   drop_axis: the parts lack the axis (Pack, Unpack); each is one element of it.
  Joined(const Shape& whole, int axis, const std::vector<TensorSpec>& parts, bool drop_axis) {
    int64_t inner = 1, outer = 1;
    for (int i = 0; i < whole.rank(); ++i) (i < axis ? outer : inner) *= whole[i];
    const int64_t row = whole[axis] == 0 ? 0 : inner / whole[axis];
    begin_ = {0};
    for (const TensorSpec& part : parts)
      begin_.push_back(begin_.back() + row * (drop_axis ? 1 : part.shape[axis]));
    const int64_t elements = outer * begin_.back();
    // Many short pieces cost more than their elements.
    const int64_t pieces = outer * static_cast<int64_t>(parts.size());
    chunks_ = fused::MakeChunks(elements, elements == 0 ? 1 : 1 + 8 * pieces / elements);
  }

  // Calls fn(part, offset in the part, offset in the whole, count) for all pieces, on all threads.
  template <typename Fn>
  void ForEachPiece(Fn&& fn) const {
    if (chunks_.items == 0) return;
    // Threads share the elements of the whole, because parts may have very different sizes. So a
    // chunk may begin within a piece.
    fused::ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) {
      const int64_t row = begin_.back();
      int64_t outer = begin / row, in_row = begin % row;
      size_t part = static_cast<size_t>(std::upper_bound(begin_.begin(), begin_.end(), in_row) -
                                        begin_.begin() - 1);
      for (int64_t i = begin; i < end;) {
        const int64_t width = begin_[part + 1] - begin_[part], in_part = in_row - begin_[part];
        const int64_t count = std::min(width - in_part, end - i);
        // An empty part, which SplitV and ConcatV2 allow, has no pieces.
        if (count > 0) fn(part, outer * width + in_part, i, count);
        i += count;
        in_row += count;
        if (++part + 1 < begin_.size()) continue;
        part = 0;
        in_row = 0;
        ++outer;
      }
    });
  }

 private:
  std::vector<int64_t> begin_;  // of each part in a row of the whole, in elements; then the width
  fused::Chunks chunks_;        // of the elements of the whole
};

// Copies the inputs 0, 1, ... into output 0.
KernelPlan JoinKernel(DType dtype, const Joined& joined) {
  return VisitElement(dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([joined](const KernelArgs& args) {
      joined.ForEachPiece([&](size_t part, int64_t from, int64_t to, int64_t count) {
        CopyElements(args.in<T>(static_cast<int>(part)) + from, count, args.out<T>(0) + to);
      });
    });
  });
}

// Copies the parts of input `input` to the outputs.
KernelPlan DivideKernel(DType dtype, int input, const Joined& joined) {
  return VisitElement(dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([joined, input](const KernelArgs& args) {
      joined.ForEachPiece([&](size_t part, int64_t to, int64_t from, int64_t count) {
        CopyElements(args.in<T>(input) + from, count, args.out<T>(static_cast<int>(part)) + to);
      });
    });
  });
}

int Wrapped(int64_t axis, const Shape& shape) {
  return static_cast<int>(WrapAxis(axis, shape.rank()));
}

KernelPlan MakeConcat(const KernelSpec& spec) {
  const int n = static_cast<int>(spec.inputs.size()) - 1;
  const auto axis = ConstantInts(spec, n);
  if (!axis.has_value()) return nullptr;
  const Shape& whole = spec.outputs[0].shape;
  const std::vector<TensorSpec> parts(spec.inputs.begin(), spec.inputs.begin() + n);
  return JoinKernel(spec.outputs[0].dtype, Joined(whole, Wrapped((*axis)[0], whole), parts, false));
}

KernelPlan MakePack(const KernelSpec& spec) {
  const Shape& whole = spec.outputs[0].shape;
  return JoinKernel(spec.outputs[0].dtype,
                    Joined(whole, Wrapped(spec.attrs.i("axis"), whole), spec.inputs, true));
}

KernelPlan MakeUnpack(const KernelSpec& spec) {
  const Shape& whole = spec.inputs[0].shape;
  return DivideKernel(spec.inputs[0].dtype, 0,
                      Joined(whole, Wrapped(spec.attrs.i("axis"), whole), spec.outputs, true));
}

// Split (axis, x) and SplitV (x, sizes, axis).
KernelPlan MakeSplit(const KernelSpec& spec, int x, int axis_input) {
  const auto axis = ConstantInts(spec, axis_input);
  if (!axis.has_value()) return nullptr;
  const TensorSpec& whole = spec.inputs[static_cast<size_t>(x)];
  return DivideKernel(whole.dtype, x,
                      Joined(whole.shape, Wrapped((*axis)[0], whole.shape), spec.outputs, false));
}

EST_REGISTER_EXACT_KERNEL("ConcatV2", MakeConcat);
EST_REGISTER_EXACT_KERNEL("Pack", MakePack);
EST_REGISTER_EXACT_KERNEL("Unpack", MakeUnpack);
EST_REGISTER_EXACT_KERNEL("Split", [](const KernelSpec& spec) { return MakeSplit(spec, 1, 0); });
EST_REGISTER_EXACT_KERNEL("SplitV", [](const KernelSpec& spec) { return MakeSplit(spec, 0, 2); });

}  // namespace
}  // namespace estimator
