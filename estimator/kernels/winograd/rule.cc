#include "estimator/kernels/winograd/rule.h"

#include <algorithm>
#include <cstdint>

namespace estimator::winograd {

bool Chosen(const KernelSpec& spec, Pass pass, const Convolution& conv) {
  if (spec.conv_algorithm == ConvAlgorithm::kWinograd) return true;
  const int64_t fewest_channels = std::min(conv.in_channels, conv.out_channels);
  const int64_t pixels = conv.images * conv.out_rows * conv.out_columns;
  // Transforming a filter costs as much as this many pixels. oneDNN is slow if images are smaller than a
  // tile.
  const bool small = conv.out_rows < 4 && conv.out_columns < 4;
  const bool costly = conv.taps == 3 && pass == Pass::kFilterGradient;
  const int64_t fewest_pixels = small ? 256 : costly ? 1024 : 512;
  return fewest_channels >= 16 && pixels >= fewest_pixels;
}

}  // namespace estimator::winograd
