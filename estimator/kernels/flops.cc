#include "estimator/kernels/flops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/matmul_spec.h"

namespace estimator {
namespace {

int64_t LargestOperand(const KernelSpec& spec) {
  int64_t largest = 0;
  for (const std::vector<TensorSpec>* list : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *list) largest = std::max(largest, tensor.shape.num_elements());
  }
  return largest;
}

// The products of a recurrent layer over all time steps: twice as many for the gradients.
std::optional<int64_t> RecurrentFlops(const KernelSpec& spec) {
  const bool lstm = absl::StartsWith(spec.op, "BlockLSTM");
  if (!lstm && !absl::StartsWith(spec.op, "_BlockGRU")) return std::nullopt;
  const Shape& x = spec.inputs[lstm ? 1 : 0].shape;
  int64_t weights = spec.inputs[lstm ? 4 : 2].shape.num_elements();
  if (!lstm) weights += spec.inputs[3].shape.num_elements();
  return (absl::EndsWith(spec.op, "Grad") ? 4 : 2) * x[0] * x[1] * weights;
}

}  // namespace

std::optional<int64_t> ProductFlops(const KernelSpec& spec) {
  if (const auto conv = ConvSpecOf(spec); conv.has_value() && conv->geometry.out_channels > 0) {
    // A depthwise filter has one input channel for each output channel.
    const int64_t taps = conv->filter.shape.num_elements() / conv->geometry.out_channels;
    return 2 * conv->geometry.output().num_elements() * taps;
  }
  if (const auto product = MatMulSpecOf(spec))
    return 2 * product->c.shape.num_elements() * product->sizes.k;
  return RecurrentFlops(spec);
}

int64_t EstimatedFlops(const KernelSpec& spec) {
  if (const auto flops = ProductFlops(spec)) return *flops;
  if (spec.op == "_FusedElementwise" || spec.op == "_FusedElementwiseSum") {
    const auto& ops = spec.attrs.get<std::vector<std::string>>("ops");
    // A chain computes all of its ops, though it reads and writes memory only once.
    return static_cast<int64_t>(ops.size()) * spec.outputs[0].shape.num_elements();
  }
  // For other ops one operation for each element of the largest operand is a fair guess: memory
  // limits them.
  return LargestOperand(spec);
}

}  // namespace estimator
