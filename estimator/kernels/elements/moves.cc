// Ops that move elements without reading their values, on all threads: ConcatV2, Pack, Split,
// SplitV, Unpack, Tile, Pad and PadV2. By element size; strings are left to the reference tier.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/strided_rows.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

std::optional<std::vector<int64_t>> ConstantInts(const KernelSpec& spec, size_t i) {
  if (i >= spec.constants.size() || !spec.constants[i].has_value()) return std::nullopt;
  const Array ints = spec.constants[i]->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.values<int64_t>().begin(), ints.values<int64_t>().end());
}

// Calls fn(T{}) with an unsigned type of the size of the dtype's elements. Does nothing for strings.
template <typename Fn>
void VisitElement(DType dtype, Fn&& fn) {
  if (dtype == DType::kString) return;
  switch (DTypeSize(dtype)) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return;
  }
}

template <typename T>
void Copy(const T* from, int64_t count, T* to) {
  if (count == 1) {
    *to = *from;  // a call costs more than the element
  } else {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  }
}

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
    chunks_ = MakeChunks(elements, elements == 0 ? 1 : 1 + 8 * pieces / elements);
  }

  // Calls fn(part, offset in the part, offset in the whole, count) for all pieces, on all threads.
  template <typename Fn>
  void ForEachPiece(Fn&& fn) const {
    if (chunks_.items == 0) return;
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) {
      const int64_t row = begin_.back();
      int64_t outer = begin / row, in_row = begin % row;
      size_t part = static_cast<size_t>(std::upper_bound(begin_.begin(), begin_.end(), in_row) -
                                        begin_.begin() - 1);
      for (int64_t i = begin; i < end;) {
        const int64_t width = begin_[part + 1] - begin_[part], in_part = in_row - begin_[part];
        const int64_t count = std::min(width - in_part, end - i);
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
  Chunks chunks_;               // of the elements of the whole
};

// Copies the inputs 0, 1, ... into output 0.
std::unique_ptr<Kernel> JoinKernel(DType dtype, const Joined& joined) {
  std::unique_ptr<Kernel> kernel;
  VisitElement(dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeFusedKernel([joined](const KernelArgs& args) {
      joined.ForEachPiece([&](size_t part, int64_t from, int64_t to, int64_t count) {
        Copy(args.in<T>(static_cast<int>(part)) + from, count, args.out<T>(0) + to);
      });
      return absl::OkStatus();
    });
  });
  return kernel;
}

// Copies the parts of input `input` to the outputs.
std::unique_ptr<Kernel> DivideKernel(DType dtype, int input, const Joined& joined) {
  std::unique_ptr<Kernel> kernel;
  VisitElement(dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeFusedKernel([joined, input](const KernelArgs& args) {
      joined.ForEachPiece([&](size_t part, int64_t to, int64_t from, int64_t count) {
        Copy(args.in<T>(input) + from, count, args.out<T>(static_cast<int>(part)) + to);
      });
      return absl::OkStatus();
    });
  });
  return kernel;
}

int Wrapped(int64_t axis, const Shape& shape) {
  return static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
}

std::unique_ptr<Kernel> MakeConcat(const KernelSpec& spec) {
  const size_t n = spec.inputs.size() - 1;
  const auto axis = ConstantInts(spec, n);
  if (!axis.has_value()) return nullptr;
  const Shape& whole = spec.outputs[0].shape;
  const std::vector<TensorSpec> parts(spec.inputs.begin(),
                                      spec.inputs.begin() + static_cast<int64_t>(n));
  return JoinKernel(spec.outputs[0].dtype, Joined(whole, Wrapped((*axis)[0], whole), parts, false));
}

std::unique_ptr<Kernel> MakePack(const KernelSpec& spec) {
  const Shape& whole = spec.outputs[0].shape;
  return JoinKernel(spec.outputs[0].dtype,
                    Joined(whole, Wrapped(spec.attrs.i("axis"), whole), spec.inputs, true));
}

std::unique_ptr<Kernel> MakeUnpack(const KernelSpec& spec) {
  const Shape& whole = spec.inputs[0].shape;
  return DivideKernel(spec.inputs[0].dtype, 0,
                      Joined(whole, Wrapped(spec.attrs.i("axis"), whole), spec.outputs, true));
}

// Split (axis, x) and SplitV (x, sizes, axis).
std::unique_ptr<Kernel> MakeSplit(const KernelSpec& spec, int x, size_t axis_input) {
  const auto axis = ConstantInts(spec, axis_input);
  if (!axis.has_value()) return nullptr;
  const TensorSpec& whole = spec.inputs[static_cast<size_t>(x)];
  return DivideKernel(whole.dtype, x,
                      Joined(whole.shape, Wrapped((*axis)[0], whole.shape), spec.outputs, false));
}

std::unique_ptr<Kernel> MakeTile(const KernelSpec& spec) {
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
  const StridedRows<1> rows(shape, {strides});
  if (!rows.ok()) return nullptr;
  std::unique_ptr<Kernel> kernel;
  VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeFusedKernel([rows](const KernelArgs& args) {
      rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
        const T* const from = args.in<T>(0) + at[0];
        T* const to = args.out<T>(0) + i;
        if (rows.strides()[0] == 0) {
          std::fill_n(to, count, *from);
        } else {
          Copy(from, count, to);
        }
      });
      return absl::OkStatus();
    });
  });
  return kernel;
}

std::unique_ptr<Kernel> MakePad(const KernelSpec& spec) {
  const auto paddings = ConstantInts(spec, 1);
  if (!paddings.has_value()) return nullptr;
  const Shape& padded = spec.outputs[0].shape;
  const std::vector<int64_t> strides = padded.strides();
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    base += (*paddings)[2 * axis] * strides[axis];
  const StridedRows<1> rows(spec.inputs[0].shape, {strides});
  if (!rows.ok()) return nullptr;
  const bool has_value = spec.inputs.size() > 2;
  const Chunks all = MakeChunks(padded.num_elements());
  std::unique_ptr<Kernel> kernel;
  VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeFusedKernel([=](const KernelArgs& args) {
      T* const out = args.out<T>(0);
      const T value = has_value ? *args.in<T>(2) : T{};
      ParallelFor(
          all, [&](int, int64_t begin, int64_t end) { std::fill(out + begin, out + end, value); });
      const int64_t stride = rows.strides()[0];
      rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
        const T* const from = args.in<T>(0) + i;
        T* const to = out + base + at[0];
        if (stride == 1) {
          Copy(from, count, to);
        } else {
          for (int64_t k = 0; k < count; ++k) to[k * stride] = from[k];
        }
      });
      return absl::OkStatus();
    });
  });
  return kernel;
}

EST_REGISTER_KERNEL("ConcatV2", KernelTier::kFused, MakeConcat);
EST_REGISTER_KERNEL("Pack", KernelTier::kFused, MakePack);
EST_REGISTER_KERNEL("Unpack", KernelTier::kFused, MakeUnpack);
EST_REGISTER_KERNEL("Split", KernelTier::kFused,
                    [](const KernelSpec& spec) { return MakeSplit(spec, 1, 0); });
EST_REGISTER_KERNEL("SplitV", KernelTier::kFused,
                    [](const KernelSpec& spec) { return MakeSplit(spec, 0, 2); });
EST_REGISTER_KERNEL("Tile", KernelTier::kFused, MakeTile);
EST_REGISTER_KERNEL("Pad", KernelTier::kFused, MakePad);
EST_REGISTER_KERNEL("PadV2", KernelTier::kFused, MakePad);

}  // namespace
}  // namespace estimator::fused
