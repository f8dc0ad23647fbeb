// Kernels that move elements without reading their values: by element size, not by dtype.
#ifndef ESTIMATOR_KERNELS_REFERENCE_MOVES_H_
#define ESTIMATOR_KERNELS_REFERENCE_MOVES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {

// Calls fn(T{}) with an unsigned type of the size of the dtype's elements, or with std::string.
template <typename Fn>
void VisitBySize(DType dtype, Fn&& fn) {
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
      return;
  }
}

// A kernel: out[i] = in0[base + sum over axes of index * stride], with one output of `shape`.
inline std::unique_ptr<Kernel> GatherByStrides(const KernelSpec& spec, const Shape& shape,
                                               int64_t base, std::vector<int64_t> strides) {
  std::unique_ptr<Kernel> kernel;
  const StridedWalk<1> walk(shape, {std::move(strides)});
  if (!walk.ok()) return nullptr;
  VisitBySize(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeKernel([walk, base](const KernelArgs& args) {
      const T* x = args.in<T>(0) + base;
      T* out = args.out<T>(0);
      walk.ForEach([&](int64_t i, const auto& at) { out[i] = x[at[0]]; });
      return absl::OkStatus();
    });
  });
  return kernel;
}

// The place of a small operand in a larger one: where it begins and how it steps.
struct Part {
  int64_t base = 0;
  StridedWalk<1> walk;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_MOVES_H_
