// The dtypes of indices, and the error for an index out of range.
#ifndef ESTIMATOR_KERNELS_REFERENCE_INDICES_H_
#define ESTIMATOR_KERNELS_REFERENCE_INDICES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"

namespace estimator {

// Returns fn(Index{}) for the dtype of an index, else null.
template <typename Fn>
KernelPlan VisitIndex(DType dtype, Fn&& fn) {
  if (dtype == DType::kInt64) return fn(int64_t{});
  if (dtype == DType::kInt32) return fn(int32_t{});
  if (dtype == DType::kUint8) return fn(uint8_t{});
  return nullptr;
}

// Index `i` of the n indices of the step's replica is `value`.
inline absl::Status IndexOutOfRange(absl::string_view what, int64_t i, int64_t n, int64_t value,
                                    int64_t limit, const StepContext& step) {
  return InvalidArgument(PositionText(absl::StrCat(what, "["), i, n, step, "]"), " = ", value,
                         " is not in [0, ", limit, ")");
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_INDICES_H_
