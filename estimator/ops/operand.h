// Operand: a tensor or a C++ number, so that functions and operators accept both.
#ifndef ESTIMATOR_OPS_OPERAND_H_
#define ESTIMATOR_OPS_OPERAND_H_

#include <type_traits>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// Used only as an argument type. A number becomes a scalar constant in the graph and with the dtype
// of the other operand: if x is bf16, `x * 0.5` is bf16.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(tensor) {}               // NOLINT: by design
  Operand(const Variable& variable) : tensor_(variable.read()) {}  // NOLINT
  template <typename Number>
  requires std::is_arithmetic_v<Number> Operand(Number number)
      : number_(static_cast<double>(number)), is_number_(true) {}  // NOLINT

  bool is_number() const { return is_number_; }
  double number() const { return number_; }
  const Tensor& tensor() const { return tensor_; }  // invalid when it is a number
  // Returns the tensor. A number becomes a constant like `other`; if both are numbers, f32 in the
  // current graph.
  Tensor Resolve(const Operand& other) const;

 private:
  Tensor tensor_;
  double number_ = 0;
  bool is_number_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_OPS_OPERAND_H_
