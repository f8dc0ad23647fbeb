// StableHLO's ops on tensors, for the interpreter (interpreter.h).
#ifndef TPU_STABLEHLO_TESTING_OPS_H_
#define TPU_STABLEHLO_TESTING_OPS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tpu/stablehlo/testing/module.h"
#include "tpu/stablehlo/testing/scalar.h"

namespace estimator::tpu::stablehlo::testing {

using Operands = std::vector<const Tensor*>;
using TensorOp = std::vector<Tensor> (*)(const Op& op, const Operands& in);

// One op on one replica; no control flow and no collectives. Throws absl::Status: INVALID_ARGUMENT
// for operands or attributes that the op does not take, UNIMPLEMENTED for an op that is not here.
std::vector<Tensor> RunTensorOp(const Op& op, const Operands& in);

// The ops of move_ops.cc and sum_ops.cc.
const std::map<std::string, TensorOp>& MoveOps();
const std::map<std::string, TensorOp>& SumOps();

// Throws INVALID_ARGUMENT unless the condition holds.
void Require(bool condition, const Op& op, absl::string_view what);

// A region that returns one of its arguments, or one op of two of them: the function of scalars.
// A sum of floats is not rounded.
using Combiner = std::function<Bits(const std::vector<Bits>& arguments)>;
Combiner CombinerOf(const Block& region);

// The row-major number of an element.
int64_t OffsetOf(const Ints& dims, const Ints& index);
// Whether the index is inside.
bool IsInside(const Ints& dims, const Ints& index);
// Calls fn(index) for all indices in row-major order.
template <typename Fn>
void ForEachIndex(const Ints& dims, Fn fn) {
  Ints index(dims.size(), 0);
  for (const int64_t size : dims)
    if (size == 0) return;
  while (true) {
    fn(index);
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace estimator::tpu::stablehlo::testing

#endif  // TPU_STABLEHLO_TESTING_OPS_H_
