#include "estimator/kernels/resize_taps.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"

namespace estimator {
namespace {

// In float32, as TensorFlow does, so that the same pixels are read.
ResizeTaps TapsOf(int64_t in, int64_t out, bool nearest, bool align_corners, bool half_pixel) {
  const float scale = align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const auto within = [in](float at) {
    return std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1);
  };
  ResizeTaps taps;
  for (int64_t i = 0; i < out; ++i) {
    float at = static_cast<float>(i);
    at = half_pixel ? (at + 0.5F) * scale : at * scale;
    if (nearest) {
      taps.push_back({{within(align_corners ? std::round(at) : std::floor(at)), 1}});
      continue;
    }
    if (half_pixel) at -= 0.5F;
    const float lower = std::floor(at), part = at - lower;
    taps.push_back({{within(lower), 1 - part}});
    if (part > 0) taps.back().push_back({within(std::ceil(at)), part});
  }
  return taps;
}

}  // namespace

ResizeTaps ResizeTapsOf(const KernelSpec& spec, int axis) {
  const bool gradient = absl::EndsWith(spec.op, "Grad");
  int64_t in = spec.inputs[0].shape.dim(axis), out = spec.outputs[0].shape.dim(axis);
  if (gradient) std::swap(in, out);
  const ResizeTaps taps = TapsOf(in, out, absl::StrContains(spec.op, "Nearest"),
                                 spec.attrs.b("align_corners"), spec.attrs.b("half_pixel_centers"));
  if (!gradient) return taps;
  ResizeTaps transposed(static_cast<size_t>(in));
  for (size_t row = 0; row < taps.size(); ++row) {
    for (const ResizeTap& tap : taps[row])
      transposed[static_cast<size_t>(tap.from)].push_back({static_cast<int64_t>(row), tap.weight});
  }
  return transposed;
}

}  // namespace estimator
