// Operand: a tensor or a number, so that functions and operators take both.
#ifndef ESTIMATOR_OPS_OPERAND_H_
#define ESTIMATOR_OPS_OPERAND_H_

#include <type_traits>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator {

// An argument type only. A number becomes a scalar constant with the graph and the dtype of the
// tensor beside it: `x * 0.5` in bf16 stays in bf16.
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
  // The tensor; a number becomes a constant like `other`, or f32 in the current graph where
  // that is a number, too.
  Tensor Resolve(const Operand& other) const;

 private:
  Tensor tensor_;
  double number_ = 0;
  bool is_number_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_OPS_OPERAND_H_
