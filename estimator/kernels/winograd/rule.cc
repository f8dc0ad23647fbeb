#include "estimator/kernels/winograd/rule.h"

#include <algorithm>
#include <cstdint>

namespace estimator::winograd {

bool Chosen(const KernelSpec& spec, Pass pass, const Convolution& conv) {
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd) return true;
  const int64_t fewest_channels = std::min(conv.in_channels, conv.out_channels);
  const int64_t pixels = conv.images * conv.out_rows * conv.out_columns;
  if (conv.taps == 5) return fewest_channels >= 16 && pixels >= 512;
  // Transforming a filter costs as much as this many pixels.
  const int64_t fewest_pixels = pass == Pass::kFilterGradient ? 1024 : 512;
  return fewest_channels >= 32 && pixels >= fewest_pixels;
}

}  // namespace estimator::winograd
