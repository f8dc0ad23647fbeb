// Const, Fill, ZerosLike, OnesLike, Range.
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// Copies n elements of the dtype, strings included.
void CopyElements(DType dtype, const void* from, void* to, int64_t n) {
  if (dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from), n, static_cast<std::string*>(to));
  } else if (n > 0) {
    std::memcpy(to, from, static_cast<size_t>(n) * DTypeSize(dtype));
  }
}

EST_REGISTER_KERNEL("Const", KernelTier::kReference, [](const KernelSpec& spec) {
  const Array value = spec.attrs.get<Array>("value");
  return MakeKernel([value](const KernelArgs& args) {
    CopyElements(value.dtype(), value.raw(), args.out<void>(0), value.num_elements());
    return absl::OkStatus();
  });
});

EST_REGISTER_KERNEL("Fill", KernelTier::kReference, [](const KernelSpec& spec) {
  const DType dtype = spec.outputs[0].dtype;
  const size_t size = DTypeSize(dtype);
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([dtype, size, n](const KernelArgs& args) {
    if (dtype == DType::kString) {
      std::fill_n(args.out<std::string>(0), n, *args.in<std::string>(1));
      return absl::OkStatus();
    }
    char* out = args.out<char>(0);
    for (int64_t i = 0; i < n; ++i, out += size) std::memcpy(out, args.in<void>(1), size);
    return absl::OkStatus();
  });
});

// A kernel that sets every element to `number`.
KernelPlan Uniformly(const TensorSpec& spec, int number) {
  KernelPlan kernel;
  VisitNumeric(spec.dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.shape.num_elements();
    kernel = MakeKernel([n, number](const KernelArgs& args) {
      std::fill_n(args.out<T>(0), n, static_cast<T>(static_cast<Compute<T>>(number)));
      return absl::OkStatus();
    });
  });
  return kernel;
}

EST_REGISTER_KERNEL("ZerosLike", KernelTier::kReference,
                    [](const KernelSpec& spec) { return Uniformly(spec.outputs[0], 0); });
EST_REGISTER_KERNEL("OnesLike", KernelTier::kReference,
                    [](const KernelSpec& spec) { return Uniformly(spec.outputs[0], 1); });

EST_REGISTER_KERNEL("Range", KernelTier::kReference, [](const KernelSpec& spec) {
  KernelPlan kernel;
  VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsNumberType<T>) {
      const int64_t n = spec.outputs[0].shape.num_elements();
      kernel = MakeKernel([n](const KernelArgs& args) {
        // Adds delta repeatedly, as TensorFlow. Integers use unsigned numbers, whose overflow is
        // defined: the sum after the last element may not fit into T.
        using Value = std::conditional_t<std::is_integral_v<T>, uint64_t, Compute<T>>;
        auto value = static_cast<Value>(*args.in<T>(0));
        const auto delta = static_cast<Value>(*args.in<T>(2));
        for (int64_t i = 0; i < n; ++i, value += delta) {
          args.out<T>(0)[i] = static_cast<T>(value);
        }
        return absl::OkStatus();
      });
    }
  });
  return kernel;
});

EST_REGISTER_KERNEL("LinSpace", KernelTier::kReference, [](const KernelSpec& spec) {
  KernelPlan kernel;
  VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsFloatingType<T>) {
      const int64_t n = spec.outputs[0].shape.num_elements();
      kernel = MakeKernel([n](const KernelArgs& args) {
        const auto start = static_cast<Compute<T>>(*args.in<T>(0));
        const auto stop = static_cast<Compute<T>>(*args.in<T>(1));
        const Compute<T> step = n > 1 ? (stop - start) / static_cast<Compute<T>>(n - 1) : 0;
        for (int64_t i = 0; i < n; ++i) {
          const bool last = i > 0 && i == n - 1;
          args.out<T>(0)[i] =
              static_cast<T>(last ? stop : start + step * static_cast<Compute<T>>(i));
        }
        return absl::OkStatus();
      });
    }
  });
  return kernel;
});

}  // namespace
}  // namespace estimator
