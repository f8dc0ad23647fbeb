// The type of a value, known before the value exists: its dtype and its static shape.
#ifndef ESTIMATOR_ARRAY_TENSOR_SPEC_H_
#define ESTIMATOR_ARRAY_TENSOR_SPEC_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"

namespace estimator {

struct TensorSpec {
  DType dtype = DType::kInvalid;
  Shape shape;

  size_t num_bytes() const { return static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype); }
  // "f32 [8,10]"
  std::string ToString() const {
    return absl::StrCat(DTypeShortName(dtype), " ", shape.ToString());
  }
  friend bool operator==(const TensorSpec& a, const TensorSpec& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_TENSOR_SPEC_H_
