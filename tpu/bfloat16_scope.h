// Bfloat16Scope: variables that are read as bfloat16, and stored and updated as float32.
//
//   Tensor logits;
//   {
//     const tpu::Bfloat16Scope bfloat16;
//     const Tensor x = Cast(features["image"], DType::kBfloat16);
//     const Tensor w = GetVariable("w", {784, 10}, {.dtype = DType::kBfloat16});  // reads as bf16
//     logits = layers::Dense(MatMul(x, w), {.units = 10});
//   }
//   const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Cast(logits, DType::kFloat32));
#ifndef TPU_BFLOAT16_SCOPE_H_
#define TPU_BFLOAT16_SCOPE_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/variable.h"

namespace estimator::tpu {

// While it exists, GetVariable with DType::kBfloat16 creates a float32 variable and returns a
// handle that reads as its value cast to bfloat16. Optimizers, checkpoints and initializers see
// float32. Other dtypes are not affected. The scope holds for scopes that are opened inside it.
//
// The layers of this project do the same without the scope: weights are float32, and the layer
// computes in the dtype of its input. So only calls of GetVariable need it.
//
//   name: "" adds nothing to the names of variables at the root. As in TensorFlow, the scope is a
//   variable scope of this name.
// Source: TF 2.15 tf.compat.v1.tpu.bfloat16_scope.
class Bfloat16Scope {
 public:
  explicit Bfloat16Scope(StringArg name = "") : scope_(name, {.bfloat16_reads_float32 = true}) {}

 private:
  const VariableScope scope_;
};

}  // namespace estimator::tpu

#endif  // TPU_BFLOAT16_SCOPE_H_
