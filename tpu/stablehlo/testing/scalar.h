// The numbers of the interpreter (interpreter.h): tensors, and StableHLO's ops of one element.
#ifndef TPU_STABLEHLO_TESTING_SCALAR_H_
#define TPU_STABLEHLO_TESTING_SCALAR_H_

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo::testing {

// One element of any type: the bits of a double for a float, else those of an int64. Every float is
// a number of its own dtype, and every integer is in its type's range.
using Bits = uint64_t;
inline double AsFloat(Bits x) { return std::bit_cast<double>(x); }
inline int64_t AsInt(Bits x) { return std::bit_cast<int64_t>(x); }
inline Bits BitsOf(double x) { return std::bit_cast<Bits>(x); }
inline Bits BitsOf(int64_t x) { return std::bit_cast<Bits>(x); }
// A float rounded to the dtype of `type`; the low bits of an integer.
Bits Rounded(const Type& type, Bits x);

struct Tensor {
  Type type;
  std::vector<Bits> elements;  // row-major

  Tensor() = default;
  explicit Tensor(const Type& type);  // zeros
  const Ints& dims() const { return type.shape.dims(); }
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
};
Tensor FromArray(const Array& array);
// REQUIRES: a type that has a DType.
Array ToArray(const Tensor& tensor);
// The element at `index` of an attribute "dense<...>" of StableHLO's op `constant`.
Tensor ParseConstant(const Type& type, const std::string& dense);
// The element bytes of x, and back: bitcast_convert.
Bits ToMemory(const Type& type, Bits x);
Bits FromMemory(const Type& type, Bits memory);

// The ops by StableHLO's names. Throw absl::Status (UNIMPLEMENTED) for another one.
// Binary is exact for sums and products of float32: the caller rounds.
bool IsUnary(const std::string& op);
bool IsBinary(const std::string& op);
Bits Unary(const std::string& op, const Type& type, Bits x);
Bits Binary(const std::string& op, const Type& type, Bits a, Bits b);
bool Compare(const std::string& direction, const Type& type, Bits a, Bits b);
// Of floats, in the total order of IEEE 754: NaN with a sign bit, numbers, other NaN.
bool CompareInTotalOrder(const std::string& direction, Bits a, Bits b);
Bits Convert(const Type& from, const Type& to, Bits x);

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_TESTING_SCALAR_H_
