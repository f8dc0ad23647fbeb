// TensorArray: tensors of one type by number, for loops that write or read one at each trip.
#ifndef ESTIMATOR_OPS_TENSOR_ARRAY_H_
#define ESTIMATOR_OPS_TENSOR_ARRAY_H_

#include <cstdint>

#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// A value: Write returns a new array. It is kept as one tensor [size, ...]; Write changes it in
// place where nothing reads the old one. As a loop variable it converts to that tensor, and the
// body makes an array of its parameter again:
//   Tensors last = WhileLoop(
//       [](const Tensors& v) { return Less(v[0], 10); },
//       [](const Tensors& v) {
//         return Tensors{Add(v[0], 1), TensorArray(v[1]).Write(v[0], Square(v[0]))};
//       },
//       {Constant(0), TensorArray({DType::kInt32, {}}, 10)});
// Elements that were never written are zero. The size is fixed, unlike that of TensorFlow's
// dynamic_size.
// Source: TF 2.15 tf.TensorArray.
class TensorArray {
 public:
  //   element: the type of each element. Inside of a model_fn, adds the zeros to the current graph.
  TensorArray(const TensorSpec& element, int64_t size, StringArg name = "TensorArray");
  // Unstack: the rows of `rows` [size, ...].
  explicit TensorArray(const Tensor& rows) : rows_(rows) {}

  int64_t size() const { return rows_.dim(0); }
  // The element of number `index`, i32 or i64 []. Errors of the step: INVALID_ARGUMENT naming an
  // index out of range.
  Tensor Read(const Tensor& index, StringArg name = "TensorArrayRead") const;
  TensorArray Write(const Tensor& index, const Tensor& value,
                    StringArg name = "TensorArrayWrite") const;
  // indices: i32 or i64 [n]. Returns [n, ...].
  Tensor Gather(const Tensor& indices, StringArg name = "TensorArrayGather") const;
  //   values: [n, ...], the elements with the numbers `indices`.
  TensorArray Scatter(const Tensor& indices, const Tensor& values,
                      StringArg name = "TensorArrayScatter") const;
  // All elements, [size, ...].
  Tensor Stack() const { return rows_; }
  operator Tensor() const { return rows_; }  // NOLINT: a loop variable

 private:
  Tensor rows_;
};

}  // namespace estimator

#endif  // ESTIMATOR_OPS_TENSOR_ARRAY_H_
