// GatherNd, ScatterNd, TensorScatter..., UnsortedSegment..., OneHot.
// Sums are computed in the dtype of the elements, in the order of the indices.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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
  template <typename Index, typename Fn>
  absl::Status ForEach(const Index* indices, Fn&& fn) const {
    for (int64_t row = 0; row < num_rows; ++row) {
      int64_t offset = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const auto axis = static_cast<size_t>(k);
        const auto index = static_cast<int64_t>(indices[row * depth + k]);
        if (index < 0 || index >= limits[axis]) {
          return IndexOutOfRange("indices", row * depth + k, index, limits[axis]);
        }
        offset += index * strides[axis];
      }
      fn(row, offset);
    }
    return absl::OkStatus();
  }
};

EST_REGISTER_KERNEL("GatherNd", KernelTier::kReference, [](const KernelSpec& spec) {
  const NdLayout layout(spec.inputs[1].shape, spec.inputs[0].shape);
  return VisitIndex(spec.inputs[1].dtype, [&](auto index_tag) {
    using Index = decltype(index_tag);
    return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      return MakeKernel([layout](const KernelArgs& args) {
        return layout.ForEach(args.in<Index>(1), [&](int64_t row, int64_t offset) {
          std::copy_n(args.in<T>(0) + offset, layout.slice, args.out<T>(0) + row * layout.slice);
        });
      });
    });
  });
});

EST_REGISTER_KERNEL("ScatterNd", KernelTier::kReference, [](const KernelSpec& spec) {
  const NdLayout layout(spec.inputs[0].shape, spec.outputs[0].shape);
  const int64_t n = spec.outputs[0].shape.num_elements();
  return VisitIndex(spec.inputs[0].dtype, [&](auto index_tag) {
    using Index = decltype(index_tag);
    KernelPlan kernel;
    VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (kIsNumberType<T>) {
        kernel = MakeKernel([layout, n](const KernelArgs& args) {
          T* out = args.out<T>(0);
          std::fill_n(out, n, T{});
          return layout.ForEach(args.in<Index>(0), [&](int64_t row, int64_t offset) {
            const T* update = args.in<T>(1) + row * layout.slice;
            for (int64_t i = 0; i < layout.slice; ++i)
              out[offset + i] = SumOf(out[offset + i], update[i]);
          });
        });
      }
    });
    return kernel;
  });
});

// x with the updates set or added. The operands are x, indices, updates. If the output overwrites
// x, only the updated slices are written.
template <bool kAdd>
KernelPlan MakeTensorScatter(const KernelSpec& spec) {
  const NdLayout layout(spec.inputs[1].shape, spec.outputs[0].shape);
  const int64_t n = spec.outputs[0].shape.num_elements();
  return VisitIndex(spec.inputs[1].dtype, [&](auto index_tag) {
    using Index = decltype(index_tag);
    KernelPlan kernel;
    VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (kIsNumberType<T>) {
        const auto run = [layout, n](const KernelArgs& args) {
          T* out = args.out<T>(0);
          if (args.in<T>(0) != out) std::copy_n(args.in<T>(0), n, out);
          return layout.ForEach(args.in<Index>(1), [&](int64_t row, int64_t offset) {
            const T* update = args.in<T>(2) + row * layout.slice;
            for (int64_t i = 0; i < layout.slice; ++i) {
              out[offset + i] = kAdd ? SumOf(out[offset + i], update[i]) : update[i];
            }
          });
        };
        kernel = MakeKernel(run, 0, /*alias_input=*/0);
      }
    });
    return kernel;
  });
}

EST_REGISTER_KERNEL("TensorScatterUpdate", KernelTier::kReference, MakeTensorScatter<false>);
EST_REGISTER_KERNEL("TensorScatterAdd", KernelTier::kReference, MakeTensorScatter<true>);

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

// The initial value of a segment, and how the element of a row is combined with it.
struct SumSegments {
  template <typename T>
  static T First() {
    return T{};
  }
  template <typename T>
  static T Of(T total, T x) {
    return SumOf(total, x);
  }
};
struct MaxSegments {
  template <typename T>
  static T First() {
    return Lowest<T>();
  }
  template <typename T>
  static T Of(T total, T x) {
    return static_cast<Compute<T>>(x) > static_cast<Compute<T>>(total) ? x : total;
  }
};
struct MinSegments {
  template <typename T>
  static T First() {
    return Largest<T>();
  }
  template <typename T>
  static T Of(T total, T x) {
    return static_cast<Compute<T>>(x) < static_cast<Compute<T>>(total) ? x : total;
  }
};

template <typename Segments>
KernelPlan MakeSegments(const KernelSpec& spec) {
  const int64_t n = spec.inputs[1].shape.num_elements();
  const int64_t num_out = spec.outputs[0].shape.num_elements();
  const int64_t num_segments = spec.outputs[0].shape.dim(0);
  const int64_t row = num_segments == 0 ? 0 : num_out / num_segments;
  return VisitIndex(spec.inputs[1].dtype, [&](auto index_tag) {
    using Index = decltype(index_tag);
    KernelPlan kernel;
    VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      if constexpr (kIsNumberType<T>) {
        kernel = MakeKernel([=](const KernelArgs& args) {
          T* out = args.out<T>(0);
          std::fill_n(out, num_out, Segments::template First<T>());
          for (int64_t i = 0; i < n; ++i) {
            const auto id = static_cast<int64_t>(args.in<Index>(1)[i]);
            // As in TensorFlow, a row with a negative id is dropped.
            if (id < 0) continue;
            if (id >= num_segments) return IndexOutOfRange("segment_ids", i, id, num_segments);
            const T* x = args.in<T>(0) + i * row;
            for (int64_t k = 0; k < row; ++k) {
              out[id * row + k] = Segments::Of(out[id * row + k], x[k]);
            }
          }
          return absl::OkStatus();
        });
      }
    });
    return kernel;
  });
}

EST_REGISTER_KERNEL("UnsortedSegmentSum", KernelTier::kReference, MakeSegments<SumSegments>);
EST_REGISTER_KERNEL("UnsortedSegmentMax", KernelTier::kReference, MakeSegments<MaxSegments>);
EST_REGISTER_KERNEL("UnsortedSegmentMin", KernelTier::kReference, MakeSegments<MinSegments>);

EST_REGISTER_KERNEL("OneHot", KernelTier::kReference, [](const KernelSpec& spec) {
  const Shape& shape = spec.outputs[0].shape;
  const auto axis = static_cast<int>(WrapAxis(spec.attrs.i("axis"), shape.rank()));
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape.dim(i);
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
  const int64_t depth = shape.dim(axis);
  return VisitIndex(spec.inputs[0].dtype, [&](auto index_tag) {
    using Index = decltype(index_tag);
    return VisitElement(spec.outputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      return MakeKernel([=](const KernelArgs& args) {
        T* out = args.out<T>(0);
        const T on = *args.in<T>(2), off = *args.in<T>(3);
        std::fill_n(out, outer * depth * inner, off);
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = 0; i < inner; ++i) {
            const auto index = static_cast<int64_t>(args.in<Index>(0)[o * inner + i]);
            // As in TensorFlow, an index out of range leaves its row at the off value.
            if (index >= 0 && index < depth) out[(o * depth + index) * inner + i] = on;
          }
        }
        return absl::OkStatus();
      });
    });
  });
});

}  // namespace
}  // namespace estimator
