// GatherNd, ScatterNd, TensorScatter..., UnsortedSegment..., OneHot.
// Sums are computed in the dtype of the elements, in the order of the indices.
#include <algorithm>
#include <limits>
#include <vector>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/indices.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// How rows of K indices refer to slices of a shape.
struct NdLayout {
  int64_t num_rows = 0;
  int64_t depth = 0;  // K
  int64_t slice = 1;  // the number of elements of a slice
  std::vector<int64_t> limits, strides;

  NdLayout(const Shape& indices, const Shape& whole)
      : depth(indices.dim(-1)), limits(whole.dims()), strides(whole.strides()) {
    num_rows = 1;
    for (int i = 0; i + 1 < indices.rank(); ++i) num_rows *= indices.dim(i);
    for (int i = static_cast<int>(depth); i < whole.rank(); ++i) slice *= whole.dim(i);
  }

  // Calls fn(row, offset of its slice) for every row.
  template <typename Fn>
  absl::Status ForEach(const Indices& indices, const StepContext& step, Fn&& fn) const {
    for (int64_t row = 0; row < num_rows; ++row) {
      int64_t offset = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const auto axis = static_cast<size_t>(k);
        const int64_t index = indices[row * depth + k];
        if (index < 0 || index >= limits[axis]) {
          return IndexOutOfRange("indices", row * depth + k, num_rows * depth, index, limits[axis],
                                 step);
        }
        offset += index * strides[axis];
      }
      fn(row, offset);
    }
    return absl::OkStatus();
  }
};

EST_REGISTER_KERNEL("GatherNd", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  const NdLayout layout(spec.inputs[1].shape, spec.inputs[0].shape);
  const DType index = spec.inputs[1].dtype;
  if (!IsIndex(index)) return nullptr;
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([layout, index](const KernelArgs& args) {
      return layout.ForEach(
          Indices(index, args.inputs[1]), args.step, [&](int64_t row, int64_t offset) {
            std::copy_n(args.in<T>(0) + offset, layout.slice, args.out<T>(0) + row * layout.slice);
          });
    });
  });
});

// The largest finite number of a type.
template <typename T>
T Largest() {
  T largest;
  if constexpr (std::is_same_v<T, Bfloat16>)
    largest.bits = 0x7f7f;
  else if constexpr (std::is_same_v<T, Float16>)
    largest.bits = 0x7bff;
  else
    largest = std::numeric_limits<T>::max();
  return largest;
}
template <typename T>
T Lowest() {
  if constexpr (kIsHalf<T>)
    return T(-static_cast<float>(Largest<T>()));
  else
    return std::numeric_limits<T>::lowest();
}

// Combines n elements of x with totals, or sets these if x is null. Only this is compiled for each
// type.
using CombineFn = void (*)(const void* x, void* totals, int64_t n);

template <typename T, typename First, typename Next>
void CombineRow(const void* x, void* totals, int64_t n) {
  T* const out = static_cast<T*>(totals);
  if (x == nullptr) {
    std::fill_n(out, n, First()(T{}));
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = Next()(out[i], static_cast<const T*>(x)[i]);
  }
}

// Null if the elements are no numbers.
//   first(T{}): the initial total.  next(total, x): the total with one more element.
template <typename First, typename Next>
CombineFn CombineOf(DType dtype, First, Next) {
  CombineFn combine = nullptr;
  VisitNumeric(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsNumberType<T>) combine = CombineRow<T, First, Next>;
  });
  return combine;
}
CombineFn SumOfRows(DType dtype) {
  return CombineOf(
      dtype, [](auto zero) { return zero; }, [](auto total, auto x) { return SumOf(total, x); });
}

// x with the updates set or added. The operands are x, indices, updates; without x (ScatterNd), the
// elements are 0 at first. If the output overwrites x, only the updated slices are written.
template <bool kHasX, bool kAdd>
KernelPlan MakeScatter(const KernelSpec& spec) {
  constexpr int kIndices = kHasX ? 1 : 0;
  const TensorSpec& x = spec.outputs[0];
  const NdLayout layout(spec.inputs[kIndices].shape, x.shape);
  const DType index = spec.inputs[kIndices].dtype;
  const CombineFn add = SumOfRows(x.dtype);
  if (!IsIndex(index) || add == nullptr) return nullptr;
  const auto run = [layout, index, add, x](const KernelArgs& args) {
    const size_t size = DTypeSize(x.dtype);
    if (kHasX)
      CopyTensor(x, args.inputs[0], args.outputs[0]);
    else
      add(nullptr, args.outputs[0], x.shape.num_elements());
    return layout.ForEach(
        Indices(index, args.inputs[kIndices]), args.step, [&](int64_t row, int64_t offset) {
          char* const out = args.out<char>(0) + static_cast<size_t>(offset) * size;
          const char* const update =
              args.in<char>(kIndices + 1) + static_cast<size_t>(row * layout.slice) * size;
          if (kAdd)
            add(update, out, layout.slice);
          else
            std::copy_n(update, static_cast<size_t>(layout.slice) * size, out);
        });
  };
  return MakeKernel(run, 0, /*alias_input=*/kHasX ? 0 : -1);
}

EST_REGISTER_KERNEL("ScatterNd", KernelTier::kReference, MakeScatter<false, true>);
EST_REGISTER_KERNEL("TensorScatterUpdate", KernelTier::kReference, MakeScatter<true, false>);
EST_REGISTER_KERNEL("TensorScatterAdd", KernelTier::kReference, MakeScatter<true, true>);

KernelPlan MakeSegments(const KernelSpec& spec, CombineFn combine) {
  const Shape& out = spec.outputs[0].shape;
  const int64_t n = spec.inputs[1].shape.num_elements();
  const int64_t num_out = out.num_elements(), num_segments = out.dim(0);
  const int64_t row = num_segments == 0 ? 0 : num_out / num_segments;
  const auto row_bytes = static_cast<int64_t>(DTypeSize(spec.outputs[0].dtype)) * row;
  const DType index = spec.inputs[1].dtype;
  if (!IsIndex(index) || combine == nullptr) return nullptr;
  return MakeKernel([=](const KernelArgs& args) {
    const Indices ids(index, args.inputs[1]);
    combine(nullptr, args.outputs[0], num_out);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = ids[i];
      // As in TensorFlow, a row with a negative id is dropped.
      if (id < 0) continue;
      if (id >= num_segments)
        return IndexOutOfRange("segment_ids", i, n, id, num_segments, args.step);
      combine(args.in<char>(0) + i * row_bytes, args.out<char>(0) + id * row_bytes, row);
    }
    return absl::OkStatus();
  });
}

template <typename T>
bool IsLess(T a, T b) {
  return static_cast<Compute<T>>(a) < static_cast<Compute<T>>(b);
}

EST_REGISTER_KERNEL("UnsortedSegmentSum", KernelTier::kReference, [](const KernelSpec& spec) {
  return MakeSegments(spec, SumOfRows(spec.outputs[0].dtype));
});
EST_REGISTER_KERNEL("UnsortedSegmentMax", KernelTier::kReference, [](const KernelSpec& spec) {
  // As in TensorFlow, a segment without rows is the lowest finite number, and not -infinity.
  return MakeSegments(spec,
                      CombineOf(
                          spec.outputs[0].dtype, [](auto tag) { return Lowest<decltype(tag)>(); },
                          [](auto total, auto x) { return IsLess(total, x) ? x : total; }));
});
EST_REGISTER_KERNEL("UnsortedSegmentMin", KernelTier::kReference, [](const KernelSpec& spec) {
  return MakeSegments(spec,
                      CombineOf(
                          spec.outputs[0].dtype, [](auto tag) { return Largest<decltype(tag)>(); },
                          [](auto total, auto x) { return IsLess(x, total) ? x : total; }));
});

EST_REGISTER_KERNEL("OneHot", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  const Shape& shape = spec.outputs[0].shape;
  const AxisExtents e = ExtentsAt(shape, WrapAxis(spec.attrs.i("axis"), shape.rank()));
  const DType index_dtype = spec.inputs[0].dtype;
  if (!IsIndex(index_dtype)) return nullptr;
  return VisitElement(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([=](const KernelArgs& args) {
      const Indices indices(index_dtype, args.inputs[0]);
      T* out = args.out<T>(0);
      const T on = *args.in<T>(2), off = *args.in<T>(3);
      std::fill_n(out, e.outer * e.size * e.inner, off);
      for (int64_t o = 0; o < e.outer; ++o) {
        for (int64_t i = 0; i < e.inner; ++i) {
          const int64_t index = indices[o * e.inner + i];
          // As in TensorFlow, an index out of range leaves its row at the off value.
          if (index >= 0 && index < e.size) out[(o * e.size + index) * e.inner + i] = on;
        }
      }
    });
  });
});

}  // namespace
}  // namespace estimator
