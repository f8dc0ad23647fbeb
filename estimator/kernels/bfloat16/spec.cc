#include "estimator/kernels/bfloat16/spec.h"

#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::bfloat16 {

std::optional<Numbers> NumbersOf(const TensorSpec& a, const TensorSpec& b, const TensorSpec& result,
                                 ConvAlgorithm algorithm) {
  if (IsBfloat16(a) && IsBfloat16(b) && IsResult(result)) return Numbers::kBfloat16;
  // Other algorithms than the default are those of f32 numbers.
  if (IsF32(a) && IsF32(b) && IsF32(result) && algorithm == ConvAlgorithm::kAuto)
    return Numbers::kSplitFloat32;
  return std::nullopt;
}

std::optional<Activation> FusedActivationOf(const FusedOps& fused, const TensorSpec& bias,
                                            const TensorSpec& side, const TensorSpec& result,
                                            int64_t channels) {
  if (fused.side && (!IsF32(side) || side != result)) return std::nullopt;
  if (fused.bias && (!IsResult(bias) || bias.shape != Shape{channels})) return std::nullopt;
  if (!fused.activation.has_value()) return Activation::kNone;
  if (fused.activation == fused::TileOp::kRelu) return Activation::kRelu;
  if (fused.activation == fused::TileOp::kRelu6) return Activation::kRelu6;
  return std::nullopt;
}

std::optional<Convolution> ConvolutionOf(const ConvSpec& spec) {
  if (!IsAvailable() || spec.blocked || spec.IsEmpty() || !spec.IsPlain()) return std::nullopt;
  if (spec.pooled && !spec.HalvesTheImage()) return std::nullopt;
  const Convolution conv = spec.sizes();
  // Channels are padded to groups of 32, so with few of them most products are those of padding.
  if (conv.out_channels < kFewestChannels) return std::nullopt;
  if (conv.in_channels < kFewestChannels && !IsGathered(conv)) return std::nullopt;
  return conv;
}

}  // namespace estimator::bfloat16
