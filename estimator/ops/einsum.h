// Sums of products over named axes: Einsum and Tensordot. Both are built from Transpose, Reshape,
// Sum and matrix products, so their gradients are those of these ops.
#ifndef ESTIMATOR_OPS_EINSUM_H_
#define ESTIMATOR_OPS_EINSUM_H_

#include <cstdint>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Einsum("bij,bjk->bik", {x, y}). The equation has one letter for each axis:
//   - Letters that the result does not have are summed over.
//   - "..." is any number of leading axes, which broadcast.
//   - Without "->" the result has the letters that occur once, in alphabetical order.
//   - A letter that occurs twice in an operand takes the diagonal.
// More than two operands are combined from left to right.
// Errors: INVALID_ARGUMENT if the equation cannot be parsed; if an operand's rank is not its number
// of letters; if a letter has two sizes; if the result has a letter that no operand has, or a
// letter twice.
// Source: TF 2.15 tf.einsum.
Tensor Einsum(StringArg equation, const std::vector<Tensor>& inputs, StringArg name = "einsum");

// Sums products over pairs of axes: a_axes of a with b_axes of b. The result has the other axes of
// a, then those of b.
// Errors: INVALID_ARGUMENT if an axis is out of range, or if the sizes of a pair differ.
// Source: TF 2.15 tf.tensordot.
Tensor Tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes,
                 const std::vector<int64_t>& b_axes, StringArg name = "Tensordot");
// Pairs the last num_axes axes of a with the first of b: 1 is a matrix product, 0 an outer product.
Tensor Tensordot(const Tensor& a, const Tensor& b, int num_axes, StringArg name = "Tensordot");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_EINSUM_H_
