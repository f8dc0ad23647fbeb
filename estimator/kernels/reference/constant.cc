// Const, Fill, ZerosLike, OnesLike, Range.
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("Const", KernelTier::kReference, [](const KernelSpec& spec) {
  const Array value = spec.attrs.get<Array>("value");
  const TensorSpec tensor{value.dtype(), value.shape()};
  return MakeKernel([value, tensor](const KernelArgs& args) {
    CopyTensor(tensor, value.raw(), args.outputs[0]);
  });
});

EST_REGISTER_KERNEL("Fill", KernelTier::kReference, [](const KernelSpec& spec) {
  const DType dtype = spec.outputs[0].dtype;
  const size_t size = DTypeSize(dtype);
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([dtype, size, n](const KernelArgs& args) {
    if (dtype == DType::kString) {
      std::fill_n(args.out<std::string>(0), n, *args.in<std::string>(1));
      return;
    }
    char* out = args.out<char>(0);
    for (int64_t i = 0; i < n; ++i, out += size) std::memcpy(out, args.in<void>(1), size);
  });
});

// A kernel that sets every element to `number`.
KernelPlan Uniformly(const TensorSpec& spec, int number) {
  return VisitNumericOrBool(spec.dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.shape.num_elements();
    return MakeKernel([n, number](const KernelArgs& args) {
      std::fill_n(args.out<T>(0), n, static_cast<T>(static_cast<Compute<T>>(number)));
    });
  });
}

EST_REGISTER_KERNEL("ZerosLike", KernelTier::kReference,
                    [](const KernelSpec& spec) { return Uniformly(spec.outputs[0], 0); });
EST_REGISTER_KERNEL("OnesLike", KernelTier::kReference,
                    [](const KernelSpec& spec) { return Uniformly(spec.outputs[0], 1); });

EST_REGISTER_KERNEL("Range", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitNumbers(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.outputs[0].shape.num_elements();
    return MakeKernel([n](const KernelArgs& args) {
      // Adds delta repeatedly, as TensorFlow. Integers use unsigned numbers, whose overflow is
      // defined: the sum after the last element may not fit into T.
      using Value = std::conditional_t<std::is_integral_v<T>, uint64_t, Compute<T>>;
      auto value = static_cast<Value>(*args.in<T>(0));
      const auto delta = static_cast<Value>(*args.in<T>(2));
      for (int64_t i = 0; i < n; ++i, value += delta) {
        args.out<T>(0)[i] = static_cast<T>(value);
      }
    });
  });
});

EST_REGISTER_KERNEL("LinSpace", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.outputs[0].shape.num_elements();
    return MakeKernel([n](const KernelArgs& args) {
      const auto start = static_cast<Compute<T>>(*args.in<T>(0));
      const auto stop = static_cast<Compute<T>>(*args.in<T>(1));
      const Compute<T> step = n > 1 ? (stop - start) / static_cast<Compute<T>>(n - 1) : 0;
      for (int64_t i = 0; i < n; ++i) {
        // The sum of the steps may miss `stop` by a rounding error. TensorFlow sets the last
        // element, too.
        const bool last = i > 0 && i == n - 1;
        args.out<T>(0)[i] = static_cast<T>(last ? stop : start + step * static_cast<Compute<T>>(i));
      }
    });
  });
});

}  // namespace
}  // namespace estimator
