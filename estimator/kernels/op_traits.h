// What the compiler's passes need to know of an op. Ops are declared in one table, op_traits.cc, and not
// beside their kernels, because an op has kernels in several files, and its traits must not depend on
// which of them a program links. Passes name ops only to match patterns.
#ifndef ESTIMATOR_KERNELS_OP_TRAITS_H_
#define ESTIMATOR_KERNELS_OP_TRAITS_H_

#include <string>
#include <vector>

namespace estimator {

struct OpTraits {
  // Whether a kernel of the op can return an error because of its operands' values. The update
  // phase of a step (runtime/passes/schedule.h) has only ops that cannot.
  enum class Failure { kPossible, kNeverOfFloats, kNever };
  // How an op with images is laid out (runtime/passes/choose_layouts.h).
  enum class Layout {
    kNhwc,     // it knows only NHWC
    kFollows,  // it is in blocks if one of its images is
    kChooses,  // it is in blocks if its kernel accepts that: reorders pay off
  };

  // The output has the bytes of input 0, with another shape, and the op does not run.
  bool view = false;
  Failure failure = Failure::kPossible;
  // Each element of an output depends on the same elements of the inputs, so its kernels work the
  // same on every layout. An input may also have one element.
  bool elementwise = false;
  // An activation of one operand, which the kernel of a product before it may compute (fused_ops.h).
  bool activation = false;
  // op(a, b) = op(b, a).
  bool commutative = false;
  // Reduces input 0 along the axes of input 1. The result of a single element is that element.
  bool reduction = false;
  // Not for element-wise ops. The operands that are images [N,H,W,C] and may be in blocks of
  // channels (layout.h). Indices that a node does not have are left out.
  Layout layout = Layout::kNhwc;
  std::vector<int> image_inputs = {};
  std::vector<int> image_outputs = {};
  // The two inputs that a matrix product, or a convolution or a gradient of one, multiplies.
  std::vector<int> factors = {};
  // It is a product of matrices or of batches of them, and not of images.
  bool matrix_product = false;
  // The result of bf16 inputs may be f32: kernels sum in f32 (runtime/passes/bfloat16_products.h).
  bool sums_in_float32 = false;
  // The op of a user's graph is one that a TPU's matrix unit computes, which rounds the factors to bf16
  // (runtime/passes/round_operands.h).
  bool on_matrix_unit = false;
  // The op that also adds a bias, a shortcut and an activation (fused_ops.h); null if there is none.
  const char* with_bias = nullptr;
};

// The traits of an op. One that is not in the table has none: it may fail and knows only NHWC. Ops
// whose names begin with "Apply" are optimizers' updates, which never fail.
const OpTraits& TraitsOf(const std::string& op);

// The ops of the table, sorted.
std::vector<std::string> OpsWithTraits();

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_OP_TRAITS_H_
