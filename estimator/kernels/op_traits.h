// What the compiler's passes need to know of an op, in one table beside the kernels.
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
  // Not for element-wise ops. The operands that are images [N,H,W,C] and may be in blocks of
  // channels (layout.h). Indices that a node does not have are left out.
  Layout layout = Layout::kNhwc;
  std::vector<int> image_inputs = {};
  std::vector<int> image_outputs = {};
  // The two inputs that a matrix product, or a convolution or a gradient of one, multiplies.
  std::vector<int> factors = {};
};

// The traits of an op. One that is not in the table has none: it may fail and knows only NHWC. Ops
// whose names begin with "Apply" are optimizers' updates, which never fail.
const OpTraits& TraitsOf(const std::string& op);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_OP_TRAITS_H_
