// Element types of tensors and arrays, with TensorFlow's numbers.
#ifndef ESTIMATOR_ARRAY_DTYPE_H_
#define ESTIMATOR_ARRAY_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/half.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// All dtypes: ROW(name, number, C++ type, full name, short name).
//   number: TensorFlow's DataType (types.proto). On disk: do not change.
//   full name: TensorFlow's Python name.  short name: that of messages.
#define EST_DTYPES(ROW)                            \
  ROW(kFloat32, 1, float, "float32", "f32")        \
  ROW(kFloat64, 2, double, "float64", "f64")       \
  ROW(kInt32, 3, int32_t, "int32", "i32")          \
  ROW(kUint8, 4, uint8_t, "uint8", "u8")           \
  ROW(kInt16, 5, int16_t, "int16", "i16")          \
  ROW(kInt8, 6, int8_t, "int8", "i8")              \
  ROW(kString, 7, std::string, "string", "str")    \
  ROW(kInt64, 9, int64_t, "int64", "i64")          \
  ROW(kBool, 10, bool, "bool", "bool")             \
  ROW(kBfloat16, 14, Bfloat16, "bfloat16", "bf16") \
  ROW(kFloat16, 19, Float16, "float16", "f16")

enum class DType : int {
  kInvalid = 0,
#define EST_NUMBER(name, number, ...) name = number,
  EST_DTYPES(EST_NUMBER)
#undef EST_NUMBER
};

// Bytes of one element; 0 for kString and kInvalid.
size_t DTypeSize(DType dtype);

// TensorFlow's Python name ("float32", "bfloat16", "string").
absl::string_view DTypeName(DType dtype);
// The short name that messages use ("f32", "bf16", "i64").
absl::string_view DTypeShortName(DType dtype);
// The C++ type of the elements ("float", "int32_t", "std::string"); "nothing" for kInvalid.
absl::string_view DTypeCppName(DType dtype);
// The dtype of a full or a short name.
// Errors: INVALID_ARGUMENT, with the known names.
absl::StatusOr<DType> DTypeFromName(StringArg name);

bool IsFloating(DType dtype);
bool IsInteger(DType dtype);  // signed and unsigned; not bool

std::ostream& operator<<(std::ostream& out, DType dtype);

// DTypeOf<float>::value == DType::kFloat32. Strings are std::string.
template <typename T>
struct DTypeOf;
#define EST_DTYPE_OF(name, number, cpp_type, ...) \
  template <>                                     \
  struct DTypeOf<cpp_type> {                      \
    static constexpr DType value = DType::name;   \
  };
EST_DTYPES(EST_DTYPE_OF)
#undef EST_DTYPE_OF

template <typename T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

// Calls fn(T{}) with the C++ type T of a numeric dtype or bool, and returns true. Returns false for
// kString and kInvalid.
//   VisitNumeric(dtype, [&](auto tag) { using T = decltype(tag); ... });
template <typename Fn>
bool VisitNumeric(DType dtype, Fn&& fn) {
  switch (dtype) {
#define EST_CASE(name, number, cpp_type, ...)               \
  case DType::name:                                         \
    if constexpr (!std::is_same_v<cpp_type, std::string>) { \
      fn(cpp_type{});                                       \
      return true;                                          \
    }                                                       \
    return false;
    EST_DTYPES(EST_CASE)
#undef EST_CASE
    case DType::kInvalid:
      return false;
  }
  return false;
}

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_DTYPE_H_
