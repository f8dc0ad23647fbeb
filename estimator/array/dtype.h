// Element types of tensors and arrays, with TensorFlow's numbers.
#ifndef ESTIMATOR_ARRAY_DTYPE_H_
#define ESTIMATOR_ARRAY_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/half.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// TensorFlow's DataType values (types.proto). On disk: do not change.
enum class DType : int {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kFloat16 = 19,
};

// Bytes of one element; 0 for kString and kInvalid.
size_t DTypeSize(DType dtype);

// TensorFlow's Python name ("float32", "bfloat16", "string").
absl::string_view DTypeName(DType dtype);
// The short name that messages use ("f32", "bf16", "i64").
absl::string_view DTypeShortName(DType dtype);
// The dtype of a full or a short name.
// Errors: INVALID_ARGUMENT, with the known names.
absl::StatusOr<DType> DTypeFromName(StringArg name);

bool IsFloating(DType dtype);
bool IsInteger(DType dtype);  // signed and unsigned; not bool

std::ostream& operator<<(std::ostream& out, DType dtype);

// DTypeOf<float>::value == DType::kFloat32. Strings are std::string.
template <typename T>
struct DTypeOf;
#define EST_DTYPE_OF(cpp_type, dtype)            \
  template <>                                    \
  struct DTypeOf<cpp_type> {                     \
    static constexpr DType value = DType::dtype; \
  }
EST_DTYPE_OF(float, kFloat32);
EST_DTYPE_OF(double, kFloat64);
EST_DTYPE_OF(int32_t, kInt32);
EST_DTYPE_OF(uint8_t, kUint8);
EST_DTYPE_OF(int16_t, kInt16);
EST_DTYPE_OF(int8_t, kInt8);
EST_DTYPE_OF(std::string, kString);
EST_DTYPE_OF(int64_t, kInt64);
EST_DTYPE_OF(bool, kBool);
EST_DTYPE_OF(Bfloat16, kBfloat16);
EST_DTYPE_OF(Float16, kFloat16);
#undef EST_DTYPE_OF

template <typename T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

// Calls fn(T{}) with the C++ type T of a numeric dtype or bool, and returns true. Returns false for
// kString and kInvalid.
//   VisitNumeric(dtype, [&](auto tag) { using T = decltype(tag); ... });
template <typename Fn>
bool VisitNumeric(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      fn(float{});
      return true;
    case DType::kFloat64:
      fn(double{});
      return true;
    case DType::kInt32:
      fn(int32_t{});
      return true;
    case DType::kUint8:
      fn(uint8_t{});
      return true;
    case DType::kInt16:
      fn(int16_t{});
      return true;
    case DType::kInt8:
      fn(int8_t{});
      return true;
    case DType::kInt64:
      fn(int64_t{});
      return true;
    case DType::kBool:
      fn(bool{});
      return true;
    case DType::kBfloat16:
      fn(Bfloat16{});
      return true;
    case DType::kFloat16:
      fn(Float16{});
      return true;
    case DType::kString:
    case DType::kInvalid:
      return false;
  }
  return false;
}

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_DTYPE_H_
