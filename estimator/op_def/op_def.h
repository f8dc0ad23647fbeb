// What is known of an op without a graph: its operands, its attributes and its traits. Each op is
// one row: those that are plain arithmetic in elementwise_table.h, with their formulas, the others
// in op_table.cc. Kernels, passes, the reader and the writer of GraphDefs and the rules of TPUs
// read the row. The shape rule and the gradient need a graph: estimator/graph/op_registry.h joins
// them to the row.
//
// An op of a user's program has no row in these files. EST_REGISTER_OP adds one.
#ifndef ESTIMATOR_OP_DEF_OP_DEF_H_
#define ESTIMATOR_OP_DEF_OP_DEF_H_

#include <vector>

#include "absl/strings/string_view.h"

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
  // An activation of one operand, which the kernel of a product before it may compute
  // (kernels/fused_ops.h).
  bool activation = false;
  // op(a, b) = op(b, a).
  bool commutative = false;
  // Reduces input 0 along the axes of input 1. The result of a single element is that element.
  bool reduction = false;
  // Not for element-wise ops. The operands that are images [N,H,W,C] and may be in blocks of
  // channels (kernels/layout.h). Indices that a node does not have are left out.
  Layout layout = Layout::kNhwc;
  std::vector<int> image_inputs = {};
  std::vector<int> image_outputs = {};
  // The two inputs that a matrix product, or a convolution or a gradient of one, multiplies.
  std::vector<int> factors = {};
  // It is a product of matrices or of batches of them, and not of images.
  bool matrix_product = false;
  // The result of bf16 inputs may be f32: kernels sum in f32 (runtime/passes/bfloat16_products.h).
  bool sums_in_float32 = false;
  // The op of a user's graph is one that a TPU's matrix unit computes, which rounds the factors to
  // bf16 (runtime/passes/round_operands.h).
  bool on_matrix_unit = false;
  // The op that also adds a bias, a shortcut and an activation (kernels/fused_ops.h); null if there
  // is none.
  const char* with_bias = nullptr;
  // No gradient flows through the op, and that is no error: ArgMax, Equal, Shape, as in TensorFlow.
  bool not_differentiable = false;
  // Two equal nodes have different values, so the op is neither merged nor folded (random ops,
  // placeholders).
  bool stateful = false;
  // TensorFlow's op of this name becomes a node of this op when a GraphDef is read. False: the
  // reader has a conversion (graphdef/import/op_rules.h), or the op is not read.
  bool read_as_is = true;
  // The name that the op has in a GraphDef; null: its own.
  const char* written_as = nullptr;
  // What to do instead on a TPU, because TF 2.15 has no XLA kernel of the op. Null if it has one.
  const char* host_only = nullptr;
  // Why the op cannot be written in StableHLO, and what to do instead; null: tpu/stablehlo has a
  // lowering, or a pass makes the op, or it is a part of the step itself.
  const char* not_lowered = nullptr;
};

// A row.
struct OpDef {
  const char* name = "";
  // The names of the operands, separated by spaces, and of the results after "->" (none: one
  // result). A name with "*" stands for any number of them, an "->" without names for no result.
  const char* signature = "";
  // The attributes in TensorFlow's GraphDef, separated by spaces. Those that are values of the
  // node:
  //   NAME:KIND           required
  //   NAME:KIND=DEFAULT   optional
  //   NAME:KIND=ONLY!     optional; no other value is supported
  // KIND: b(ool), i(nt), f(loat), s(tring), t(ype), l(ist of ints), p (shape).
  // And those that follow from the node, which are written and not read: NAME=SOURCE. SOURCE:
  //   iK     the dtype of input K          oK     the dtype of output K
  //   last   the dtype of the last input
  //   ins    the number of inputs          ins-1  the number of inputs less one
  //   outs   the number of outputs
  // A row with none of those has T=i0 if it has operands. "-" stands for none.
  // Source: the op definitions of TF 2.15.
  const char* attrs = "";
  OpTraits traits = {};

  std::vector<absl::string_view> inputs() const;
  int num_inputs() const;   // -1: any number
  int num_outputs() const;  // -1: any number
};

// Null for an op without a row.
const OpDef* FindOpDef(absl::string_view name);
// All rows, sorted by name.
std::vector<const OpDef*> OpDefs();
// Adds a row for an op of a user's program. An op that has a row keeps it.
void AddOpDef(absl::string_view name, const OpTraits& traits);

// The traits of an op. One without a row may fail and knows only NHWC.
const OpTraits& TraitsOf(absl::string_view op);

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_OP_DEF_H_
