// Fuse: several nodes become one that a kernel does in one pass over memory. A fused node is made
// only where a kernel takes it; where none does, the plain nodes stay.
#ifndef ESTIMATOR_RUNTIME_PASSES_FUSE_H_
#define ESTIMATOR_RUNTIME_PASSES_FUSE_H_

#include <string>
#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// All of the below, in this order.
void Fuse(Module& module, KernelTier fastest);

// Conv2D + BiasAdd (+ AddV2) (+ Relu) -> _FusedConv2D, MatMul + BiasAdd (+ Relu) -> _FusedMatMul.
//   inputs: those of the first op, the bias, and what AddV2 adds, of the result's shape: a
//   shortcut. attributes: those of the first op, and fused_ops: {"BiasAdd"} or {"BiasAdd", "Relu"}.
// Where something else reads the value between, they stay apart.
void FuseBias(Module& module, KernelTier fastest);

// MaxPool and its MaxPoolGrad share where the maxima were, one byte each, in place of reading the
// pool's input again:
//   MaxPool(x)                     -> y, argmax = _MaxPoolWithArgmax(x)
//   MaxPoolGrad(x, y, dy)          -> _MaxPoolGradWithArgmax(argmax, dy), attribute input_shape
//   ReluGrad(MaxPoolGrad(x, y, dy), x), read by nothing else
//                                  -> _MaxPoolGradWithArgmax(argmax, dy, y): passes where y > 0.
// In the last case x = Relu(...) is at its window's maximum where the gradient goes, so x > 0
// there is y > 0, and x need not be kept for the backward pass.
void FusePool(Module& module, KernelTier fastest);

// FusedBatchNormV3 (+ AddV2) + Relu -> _FusedBatchNormEx, and where the gradient is there too,
// ReluGrad + FusedBatchNormGradV3 -> _FusedBatchNormGradEx: the block forward and backward. See
// kernels/fused/batch_norm.cc. Neither the sum nor, without a side input, the gradient before the
// activation is written to memory.
void FuseBatchNorm(Module& module, KernelTier fastest);

// Chains of element-wise f32 ops of one shape -> _FusedElementwise.
//   ops: op names in order; args: three operand indices for each, -1 where there are fewer;
//   operand k < num_inputs is input k, operand num_inputs + j the result of op j.
//   outputs: the operand indices that the node gives out.
// Every input has the outputs' shape or one element. Members belong to one level (see schedule.h),
// and to the updates alone or not at all, so that neither collectives nor updates in place wait.
void FuseElementwise(Module& module, KernelTier fastest);

// Whether a kernel takes `node`; if so, the node keeps it.
bool FindKernel(const Module& module, Node& node, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FUSE_H_
