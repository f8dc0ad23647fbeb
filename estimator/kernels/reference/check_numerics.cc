// Copies that can fail: CheckNumerics if an element is not finite, CheckRange if one is out of
// range.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("CheckNumerics", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  const std::string message = spec.attrs.s("message");
  KernelPlan kernel;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsFloatingType<T>) {
      kernel = MakeKernel(
          [n, message](const KernelArgs& args) -> absl::Status {
            const T* x = args.in<T>(0);
            bool nan = false, inf = false;
            // All elements are read, because the message says whether there is NaN, Inf or both.
            for (int64_t i = 0; i < n; ++i) {
              nan |= std::isnan(static_cast<Compute<T>>(x[i]));
              inf |= std::isinf(static_cast<Compute<T>>(x[i]));
            }
            if (nan || inf) {
              return absl::InvalidArgumentError(
                  absl::StrCat(message, " : Tensor had ", inf ? "Inf" : "",
                               inf && nan ? " and " : "", nan ? "NaN" : "", " values"));
            }
            if (args.outputs[0] != args.inputs[0])
              std::memcpy(args.outputs[0], x, static_cast<size_t>(n) * sizeof(T));
            return absl::OkStatus();
          },
          0, /*alias=*/0);
    }
  });
  return kernel;
});

EST_REGISTER_KERNEL("CheckRange", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  const double low = spec.attrs.f("low"), high = spec.attrs.f("high");
  const std::string what = spec.attrs.s("what"), type = spec.inputs[0].ToString();
  const std::string cure = spec.attrs.s("cure");
  KernelPlan kernel;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeKernel(
        [=](const KernelArgs& args) -> absl::Status {
          const T* x = args.in<T>(0);
          for (int64_t i = 0; i < n; ++i) {
            const auto value = static_cast<double>(x[i]);
            if (value >= low && value <= high) continue;
            return absl::InvalidArgumentError(absl::StrCat(
                what, " must be in [", low, ", ", high, "], but element ", i, " of ", type, " is ",
                absl::StrFormat("%.9g", value), cure.empty() ? "" : ": ", cure));
          }
          if (args.outputs[0] != args.inputs[0])
            std::memcpy(args.outputs[0], x, static_cast<size_t>(n) * sizeof(T));
          return absl::OkStatus();
        },
        0, /*alias=*/0);
  });
  return kernel;
});

}  // namespace
}  // namespace estimator
