// Copies that can fail: CheckNumerics if an element is not finite, CheckRange if one is out of
// range.
#include <cmath>

#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("CheckNumerics", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  const std::string message = spec.attrs.s("message");
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [n, message, output = spec.outputs[0]](const KernelArgs& args) -> absl::Status {
          const T* x = args.in<T>(0);
          bool nan = false, inf = false;
          // All elements are read, because the message says whether there is NaN, Inf or both.
          for (int64_t i = 0; i < n; ++i) {
            nan |= std::isnan(static_cast<Compute<T>>(x[i]));
            inf |= std::isinf(static_cast<Compute<T>>(x[i]));
          }
          if (nan || inf) {
            return InvalidArgument(message, " : Tensor had ", inf ? "Inf" : "",
                                   inf && nan ? " and " : "", nan ? "NaN" : "", " values");
          }
          CopyTensor(output, args.inputs[0], args.outputs[0]);
          return absl::OkStatus();
        },
        0, /*alias=*/0);
  });
});

EST_REGISTER_KERNEL("CheckRange", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  const double low = spec.attrs.f("low"), high = spec.attrs.f("high");
  const std::string what = spec.attrs.s("what"), type = spec.inputs[0].ToString();
  const std::string cure = spec.attrs.s("cure");
  return VisitNumericOrBool(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel(
        [=, output = spec.outputs[0]](const KernelArgs& args) -> absl::Status {
          const T* x = args.in<T>(0);
          for (int64_t i = 0; i < n; ++i) {
            const auto value = static_cast<double>(x[i]);
            if (value >= low && value <= high) continue;
            return InvalidArgument(what, " must be in [", low, ", ", high, "], but ",
                                   PositionText("element ", i, n, args.step), " of ", type, " is ",
                                   absl::StrFormat("%.9g", value), cure.empty() ? "" : ": ", cure);
          }
          CopyTensor(output, args.inputs[0], args.outputs[0]);
          return absl::OkStatus();
        },
        0, /*alias=*/0);
  });
});

}  // namespace
}  // namespace estimator
