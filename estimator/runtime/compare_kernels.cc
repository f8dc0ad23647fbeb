#include "estimator/runtime/compare_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "estimator/base/status.h"
#include "estimator/kernels/widened.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/compare_argmax.h"

namespace estimator::ir {
namespace {

double Rms(const Array& array) {
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    // An infinite element would make the tolerance infinite, and then any result would pass.
    if (std::isfinite(value)) sum += value * value;
  }
  return array.num_elements() == 0 ? 0 : std::sqrt(sum / static_cast<double>(array.num_elements()));
}

Tolerance ToleranceFor(const Array& expected) {
  if (!IsFloating(expected.dtype())) return {};
  const double relative = DTypeSize(expected.dtype()) == 2 ? 2e-2 : 1e-3;
  // Where terms cancel, a small element has the error of large terms. So the absolute part is taken
  // from the size of the whole tensor.
  return {.relative = relative, .absolute = relative * Rms(expected)};
}

// Whether Winograd's algorithm may compute the op in bf16 (kernels/bfloat16/winograd_kernels.h).
//   kernel: of the op; null if it is not known.
bool MayRoundSums(const KernelSpec& spec, const Kernel* kernel) {
  // Kernels of the other tiers sum products without this rounding.
  if (kernel != nullptr && kernel->tier() != KernelTier::kNative) return false;
  const bool gradient = spec.op == "Conv2DBackpropFilter";
  if (!gradient && spec.op != "Conv2D" && spec.op != "Conv2DBackpropInput") return false;
  for (const int i : TraitsOf(spec.op).factors) {
    if (At(spec.inputs, i).dtype != DType::kBfloat16) return false;
  }
  const Shape& filter = gradient ? spec.outputs[0].shape : spec.inputs[1].shape;
  return WinogradAllowed(spec) && filter.rank() == 4 && filter[0] == 3 && filter[1] == 3 &&
         (gradient || spec.outputs[0].dtype == DType::kBfloat16);
}

// Whether Winograd's algorithm may compute the op with tiles whose errors are too large for f32:
// convolutions with filters of 5x5 and their gradients (kernels/winograd/winograd.h).
bool MayHaveLargeTiles(const KernelSpec& spec) {
  if (spec.op.find("Conv2D") == std::string::npos || !WinogradAllowed(spec)) return false;
  // Such tiles are used only where the factors may be rounded to bf16 anyway.
  if (spec.compute_dtype != DType::kBfloat16 && !WidenedSpec(spec).has_value()) return false;
  const auto is_filter = [](const TensorSpec& tensor) {
    return tensor.shape.rank() == 4 && tensor.shape[0] == 5 && tensor.shape[1] == 5;
  };
  return std::any_of(spec.inputs.begin(), spec.inputs.end(), is_filter) ||
         std::any_of(spec.outputs.begin(), spec.outputs.end(), is_filter);
}

// Whether the op may round the factors of its products to bf16, although its operands are f32:
// those of all time steps of an LSTM or GRU (kernels/recurrent/sequence.h).
bool MayRoundFactors(const KernelSpec& spec) {
  return spec.compute_dtype == DType::kBfloat16 &&
         (spec.op.find("BlockLSTM") != std::string::npos ||
          spec.op.find("BlockGRU") != std::string::npos);
}

// The tolerance of an output of an op.
Tolerance ToleranceFor(const KernelSpec& spec, const Kernel* kernel, const Array& expected) {
  if (!MayRoundSums(spec, kernel)) {
    Tolerance tolerance = ToleranceFor(expected);
    // The largest error of uniform numbers is 4e-4 of the root mean square.
    constexpr double kLargeTiles = 1e-2;
    if (IsFloating(expected.dtype()) && MayHaveLargeTiles(spec)) {
      tolerance.relative = std::max(tolerance.relative, kLargeTiles);
      tolerance.absolute = std::max(tolerance.absolute, kLargeTiles * Rms(expected));
    }
    if (MayRoundFactors(spec)) {
      constexpr double kRoundedFactors = 5e-2;
      tolerance = {.relative = kRoundedFactors, .absolute = kRoundedFactors * Rms(expected)};
    }
    return tolerance;
  }
  // The standard deviation of the error is 4e-3 of the root mean square of uniform numbers. A few
  // of millions of results of a real step had 5e-2.
  constexpr double kRoundedSums = 1e-1;
  return {.relative = kRoundedSums, .absolute = kRoundedSums * Rms(expected)};
}

// The spec of an op that was fused, without its inputs.
KernelSpec SpecOf(const Origin::Step& step) {
  return {.op = step.op,
          .name = step.name,
          .attrs = step.attrs,
          .inputs = {},
          .outputs = step.outputs,
          .constants = {}};
}

// The results of the ops that were fused into `origin`.
absl::StatusOr<std::vector<Array>> RunOrigin(const Origin& origin, const std::vector<Array>& inputs,
                                             const StepContext& context) {
  std::vector<std::vector<Array>> results;
  const auto at = [&](Value value) -> const Array& {
    return value.node < 0 ? At(inputs, value.output) : At(results, value);
  };
  for (const Origin::Step& step : origin.steps) {
    std::vector<Array> operands;
    KernelSpec spec = SpecOf(step);
    for (const Value& input : step.inputs) {
      operands.push_back(at(input));
      spec.inputs.push_back({operands.back().dtype(), operands.back().shape()});
    }
    EST_ASSIGN_OR_RETURN(std::vector<Array> result, RunReferenceKernel(spec, operands, context));
    results.push_back(std::move(result));
  }
  std::vector<Array> outputs;
  for (const Value& output : origin.outputs) outputs.push_back(at(output));
  return outputs;
}

}  // namespace

std::vector<std::string> OpsWithoutReference(const Node& node, const KernelSpec& spec) {
  if (node.origin == nullptr) {
    return Accepts(spec, KernelTier::kReference) ? std::vector<std::string>()
                                                 : std::vector<std::string>{node.op};
  }
  std::vector<std::string> ops;
  for (const Origin::Step& step : node.origin->steps) {
    KernelSpec own = SpecOf(step);
    for (const Value& input : step.inputs) {
      const bool outer = input.node < 0;
      own.inputs.push_back(outer ? At(spec.inputs, input.output)
                                 : At(At(node.origin->steps, input.node).outputs, input.output));
      own.constants.push_back(outer ? At(spec.constants, input.output) : std::nullopt);
    }
    if (!Accepts(own, KernelTier::kReference)) ops.push_back(step.op);
  }
  return ops;
}

std::string CountedOps(const std::map<std::string, int>& counts) {
  return absl::StrJoin(counts, ", ", [](std::string* out, const auto& op) {
    absl::StrAppend(out, op.first, " (", op.second, ")");
  });
}

absl::Status CheckAgainstReference(const Node& node, const KernelSpec& spec,
                                   const std::vector<Array>& inputs,
                                   const std::vector<Array>& outputs, const StepContext& step) {
  absl::StatusOr<std::vector<Array>> expected = node.origin != nullptr
                                                    ? RunOrigin(*node.origin, inputs, step)
                                                    : RunReferenceKernel(spec, inputs, step);
  EST_RETURN_IF_ERROR(expected.status());
  for (size_t o = 0; o < expected->size(); ++o) {
    // Of activations that are nearly equal, rounding decides which is the maximum. So the places
    // may differ from those of the reference kernel.
    if (o == 1 && node.op == "_FusedConv2DMaxPool") {
      EST_RETURN_IF_ERROR(CheckArgmax(spec, inputs, outputs, [&](const Array& values) {
        return ToleranceFor(spec, node.kernel.get(), values);
      }));
      continue;
    }
    const Difference difference =
        Compare(outputs[o], (*expected)[o], ToleranceFor(spec, node.kernel.get(), (*expected)[o]));
    if (difference.equal) continue;
    return absl::InternalError(absl::StrCat(
        "output ", o, " of ", node.op, " differs from the reference kernel: ", difference.report));
  }
  return absl::OkStatus();
}

}  // namespace estimator::ir
