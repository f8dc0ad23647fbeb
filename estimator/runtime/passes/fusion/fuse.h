// Fuse: replaces several nodes by one whose kernel computes them in one pass over memory. Nodes are
// fused only if a kernel accepts the result.
#ifndef ESTIMATOR_RUNTIME_PASSES_FUSION_FUSE_H_
#define ESTIMATOR_RUNTIME_PASSES_FUSION_FUSE_H_

#include "estimator/runtime/compile_options.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// Runs those of the passes below and of ../transformer/fuse_transformer.h that the options do not
// disable, and those of ../bfloat16_products.h before the last two.
void Fuse(Module& module, const CompileOptions& options);

// In a program that normalizes with fixed moments, as for evaluation and prediction:
//   FusedBatchNormV3(Conv2D(x, filter), scale, offset, mean, variance)
//                -> BiasAdd(Conv2D(x, filter * factor), offset - mean * factor)
//     factor = scale / sqrt(variance + epsilon)
// Only in f32, if filter and moments are variables or constants, so that the new filter and bias
// are computed once (derive_values.h), and if nothing else reads the convolution. FuseBias makes
// one node of the result, with a shortcut and relu.
void FoldBatchNorm(Module& module);

// Conv2D + BiasAdd (+ AddV2) (+ activation) -> _FusedConv2D
// DepthwiseConv2dNative + the same          -> _FusedDepthwiseConv2dNative
// MatMul + the same                         -> _FusedMatMul
//   inputs: those of the first op, the bias, and the other operand of AddV2 (a shortcut), which
//     must have the shape of the result
//   attributes: those of the first op, and those of kernels/fused_ops.h
// An activation is an op that has the trait (op_def/op_def.h). It is not fused if the product
// would then need a slower tier; neither is the AddV2 of a MatMul. Ops are not fused if another
// node reads a value between them.
//   compute_dtype: CompileOptions.compute_dtype. With bf16, the tier of bf16 factors counts too.
void FuseBias(Module& module, KernelTier fastest, DType compute_dtype = DType::kFloat32);

// A MaxPool and its MaxPoolGrad share the places of the maxima, one byte each, so that the gradient
// does not read the pool's input again:
//   MaxPool(x)                     -> y, argmax = _MaxPoolWithArgmax(x)
//   MaxPoolGrad(x, y, dy)          -> _MaxPoolGradWithArgmax(argmax, dy), attribute input_shape
//   ReluGrad(MaxPoolGrad(x, y, dy), x), if nothing else reads the MaxPoolGrad
//                                  -> _MaxPoolGradWithArgmax(argmax, dy, y): flows if y > 0
// In the last case x = Relu(...). The gradient flows only to the maximum of a window, where x = y.
// So x > 0 is the same as y > 0, and x need not be kept for the backward pass.
void FusePool(Module& module, KernelTier fastest);

// A convolution, its bias, relu and max pool, forward and backward together, so that the full-size
// activation is never written (kernels/conv_block.h):
//   MaxPool(_FusedConv2D(x, filter, bias))     -> _FusedConv2DMaxPool, also without a gradient
//   _MaxPoolGradWithArgmax, Conv2DBackpropFilter, BiasAddGrad -> _Conv2DMaxPoolBackpropFilter
//   _MaxPoolGradWithArgmax, Conv2DBackpropInput               -> _Conv2DMaxPoolBackpropInput
// Only if nothing else reads the activation or its gradient, and if a kernel above the reference
// tier accepts each of the new nodes. Then, for convolutions without such a block, if there is a
// native kernel for the pair:
//   Conv2DBackpropFilter(x, dy), BiasAddGrad(dy)              -> _FusedConv2DBackpropFilter
// Runs after FuseBias and FusePool.
void FuseConvBlock(Module& module, KernelTier fastest);

// FusedBatchNormV3 (+ AddV2) + Relu -> _FusedBatchNormEx. If the program has the gradient too:
// ReluGrad + FusedBatchNormGradV3   -> _FusedBatchNormGradEx
// The same with Relu6 and Relu6Grad. See kernels/fused/batch_norm.cc. The sum is not written to
// memory; without a side input, the gradient before the activation is not either.
void FuseBatchNorm(Module& module, KernelTier fastest);

// Chains of element-wise f32 and bf16 ops of one shape, casts between the two, and casts from u8 to
// f32 -> _FusedElementwise.
//   ops: the names of the ops in order
//   args: three operand indices for each op, -1 for those that it does not have. Operand
//     k < num_inputs is input k, operand num_inputs + j is the result of op j.
//   outputs: the operand indices of the node's outputs
//   alphas: the attribute "alpha" of each op, 0 without one; left out if no op has one
// Every input has the outputs' shape or one element. All ops of a chain have the same level (see
// schedule.h), and either all or none belong to the updates only. Otherwise a collective, or an
// update in place, would have to wait for the chain. Before, elementwise/recompute.h splits small
// sums, and lets gradients recompute what the forward pass would have to store.
void FuseElementwise(Module& module, KernelTier fastest);

// The gradient of a bias is summed from the tiles of the chain that computes what it sums, or of
// the cast that reads it too:
//   BiasAddGrad(_FusedElementwise(...)) -> _FusedElementwiseSum(...)
//   BiasAddGrad(x), Cast(x)             -> _FusedElementwiseSum(x), with the cast as its chain
//   attributes: those of _FusedElementwise, and sum (kernels/fused/elementwise_sum.cc)
// A chain computes the sums if only the BiasAddGrad reads that output, and the chain has another
// one. The summed output is then not written. If others read it too, it is in the cache anyway when
// the BiasAddGrad reads it. A cast computes the sums if it reads the same value. Not for images,
// whose layout is chosen later. Runs after FuseElementwise.
void FuseBiasGrad(Module& module, KernelTier fastest);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_PASSES_FUSION_FUSE_H_
