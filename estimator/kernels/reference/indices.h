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

inline bool IsIndex(DType dtype) {
  return dtype == DType::kInt64 || dtype == DType::kInt32 || dtype == DType::kUint8;
}

// An operand of indices, of any of these dtypes: a kernel is compiled once for all of them.
class Indices {
 public:
  // REQUIRES: IsIndex(dtype).
  Indices(DType dtype, const void* data) : dtype_(dtype), data_(data) {}
  int64_t operator[](int64_t i) const {
    if (dtype_ == DType::kInt64) return static_cast<const int64_t*>(data_)[i];
    if (dtype_ == DType::kInt32) return static_cast<const int32_t*>(data_)[i];
    return static_cast<const uint8_t*>(data_)[i];
  }

 private:
  DType dtype_;
  const void* data_;
};

// Index `i` of the n indices of the step's replica is `value`.
inline absl::Status IndexOutOfRange(absl::string_view what, int64_t i, int64_t n, int64_t value,
                                    int64_t limit, const StepContext& step) {
  return InvalidArgument(PositionText(absl::StrCat(what, "["), i, n, step, "]"), " = ", value,
                         " is not in [0, ", limit, ")");
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_INDICES_H_
