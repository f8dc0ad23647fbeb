// Copies of elements whose values are not read: by element size, not by dtype, so that one kernel
// serves all dtypes.
#ifndef ESTIMATOR_KERNELS_EXACT_COPY_ELEMENTS_H_
#define ESTIMATOR_KERNELS_EXACT_COPY_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {

// Returns fn(T{}) with an unsigned type of the size of the dtype's elements, or with std::string.
// fn returns a KernelPlan.
template <typename Fn>
KernelPlan VisitElement(DType dtype, Fn&& fn) {
  if (dtype == DType::kString) return fn(std::string());
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
      return nullptr;
  }
}

template <typename T>
void CopyElements(const T* from, int64_t count, T* to) {
  if (count == 1) {
    *to = *from;  // a call costs more than the element
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    std::copy_n(from, count, to);
  }
}

// A kernel on all threads: out[i] = in0[base + sum over axes of index * stride], with one output,
// which has the elements of `shape`.
inline KernelPlan CopyByStrides(const KernelSpec& spec, const Shape& shape, int64_t base,
                                std::vector<int64_t> strides) {
  const StridedRows<1> rows(shape, {std::move(strides)});
  if (!rows.ok()) return nullptr;
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([rows, base](const KernelArgs& args) {
      const int64_t stride = rows.strides()[0];
      rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
        const T* const from = args.in<T>(0) + base + at[0];
        T* const to = args.out<T>(0) + i;
        // A loop with a stride is slower than a copy or a fill.
        if (stride == 1) return CopyElements(from, count, to);
        if (stride == 0) {
          std::fill_n(to, count, *from);
        } else {
          for (int64_t k = 0; k < count; ++k) to[k] = from[k * stride];
        }
      });
    });
  });
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_EXACT_COPY_ELEMENTS_H_
