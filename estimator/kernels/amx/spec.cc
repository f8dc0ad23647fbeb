#include "estimator/kernels/amx/spec.h"

#include <string>
#include <vector>

namespace estimator::amx {

std::optional<Numbers> NumbersOf(const KernelSpec& spec, const TensorSpec& a, const TensorSpec& b) {
  if (IsBfloat16(a) && IsBfloat16(b) && IsResult(spec.outputs[0])) return Numbers::kBfloat16;
  // Other algorithms than the default are those of f32 numbers.
  if (IsF32(a) && IsF32(b) && IsF32(spec.outputs[0]) &&
      spec.conv_algorithm == ConvAlgorithm::kAuto) {
    return Numbers::kSplit;
  }
  return std::nullopt;
}

std::optional<Fused> FusedOf(const KernelSpec& spec, int64_t channels) {
  std::vector<std::string> ops;
  if (spec.attrs.has("fused_ops")) ops = spec.attrs.get<std::vector<std::string>>("fused_ops");
  Fused fused;
  fused.bias = !ops.empty() && ops[0] == "BiasAdd";
  fused.relu = ops.size() == 2 && ops[1] == "Relu";
  if (ops.size() != (fused.bias ? 1u : 0u) + (fused.relu ? 1u : 0u)) return std::nullopt;
  fused.side = fused.bias && spec.inputs.size() == 4;
  if (spec.inputs.size() != 2u + (fused.bias ? 1u : 0u) + (fused.side ? 1u : 0u))
    return std::nullopt;
  if (fused.side && (!IsF32(spec.inputs[3]) || spec.inputs[3] != spec.outputs[0]))
    return std::nullopt;
  if (fused.bias && (!IsResult(spec.inputs[2]) || spec.inputs[2].shape != Shape{channels}))
    return std::nullopt;
  return fused;
}

}  // namespace estimator::amx
