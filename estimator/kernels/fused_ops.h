// What follows a matrix product or a convolution in the same kernel:
//   _FusedMatMul, _FusedConv2D, _FusedDepthwiseConv2dNative:
//     a, b, bias[, side] -> activation(a * b + bias + side)
// Attributes: fused_ops, which is {"BiasAdd"} or {"BiasAdd", activation}, and leakyrelu_alpha,
// which is LeakyRelu's alpha. Source of the names: TF 2.15 nn_ops.cc, _FusedConv2D.
#ifndef ESTIMATOR_KERNELS_FUSED_OPS_H_
#define ESTIMATOR_KERNELS_FUSED_OPS_H_

#include <optional>

#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

struct FusedOps {
  bool bias = false;  // input 2
  bool side = false;  // input 3
  std::optional<fused::TileOp> activation = {};
  float alpha = 0;  // of LeakyRelu
};

// Reads the attributes and the number of inputs. A spec without fused_ops has two inputs.
// nullopt for another list, or another number of inputs. Activations are the ops that have the
// trait (op_def/op_def.h). Shapes and dtypes are not checked.
std::optional<FusedOps> FusedOpsOf(const KernelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_FUSED_OPS_H_
