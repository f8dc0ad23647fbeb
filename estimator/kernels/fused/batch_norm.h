// What the kernels of batch normalization and of its gradient share (batch_norm.cc,
// batch_norm_grad.cc).
#ifndef ESTIMATOR_KERNELS_FUSED_BATCH_NORM_H_
#define ESTIMATOR_KERNELS_FUSED_BATCH_NORM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "estimator/kernels/fused/batch_norm_rows.h"
#include "estimator/kernels/fused/sums.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {

struct Norm {
  ChannelPlanes planes;
  double epsilon = 0;
  bool is_training = false;
  double factor = 1;  // exponential_avg_factor
  bool side = false;
  NormActivation activation = NormActivation::kIdentity;

  bool ok() const { return planes.width > 0; }  // false: this tier does not support the spec
};

// nullopt if the attribute activation_mode names an activation that this tier does not fuse.
inline std::optional<NormActivation> NormActivationOf(const Attrs& attrs) {
  if (!attrs.has("activation_mode")) return NormActivation::kIdentity;
  const std::string& mode = attrs.s("activation_mode");
  if (mode == "Identity") return NormActivation::kIdentity;
  if (mode == "Relu") return NormActivation::kRelu;
  if (mode == "Relu6") return NormActivation::kRelu6;
  return std::nullopt;
}

inline Norm NormOf(const KernelSpec& spec, const TensorSpec& x) {
  const ChannelPlanes planes = ImagePlanes(spec.attrs, x);
  if (planes.width == 0) return {};
  const std::optional<NormActivation> activation = NormActivationOf(spec.attrs);
  if (!activation.has_value()) return {};
  const auto has = [&](const char* name) { return spec.attrs.has(name); };
  return {.planes = planes,
          .epsilon = spec.attrs.f("epsilon"),
          .is_training = spec.attrs.b("is_training"),
          .factor = has("exponential_avg_factor") ? spec.attrs.f("exponential_avg_factor") : 1.0,
          .side = has("num_side_inputs") && spec.attrs.i("num_side_inputs") == 1,
          .activation = *activation};
}

// Channels [begin, end).
struct Channels {
  int64_t begin = 0, end = 0;
};
inline Channels AllOf(const ChannelPlanes& planes) { return {0, planes.channels()}; }
inline Channels BlockOf(const ChannelPlanes& planes, int64_t block) {
  return {block * planes.width, (block + 1) * planes.width};
}

// a[c] = scale / sqrt(variance + epsilon).
inline void Slopes(const Norm& norm, const float* scale, const float* variance,
                   const Channels& channels, float* a) {
  for (int64_t c = channels.begin; c < channels.end; ++c) {
    a[c] = static_cast<float>(static_cast<double>(scale[c]) /
                              std::sqrt(static_cast<double>(variance[c]) + norm.epsilon));
  }
}

// Splits the rows [begin, end) of all planes into pieces, each in one plane, that fit into the
// cache of a core. Calls fn(first row, end row, first channel) for each, the last piece first: the
// second pass over rows begins with those that the first pass read last, which are still in the
// cache.
template <typename Fn>
void ForEachPieceBackward(const ChannelPlanes& planes, int64_t begin, int64_t end, Fn&& fn) {
  constexpr int64_t kElements = 32768;
  const int64_t most = std::max<int64_t>(1, kElements / planes.width);
  for (int64_t row = end; row > begin;) {
    const int64_t plane = (row - 1) / planes.rows;
    const int64_t first = std::max({begin, plane * planes.rows, row - most});
    fn(first, row, planes.first_channel(plane));
    row = first;
  }
}
// The same for all rows of a block of channels.
template <typename Fn>
void ForEachPieceBackward(const ChannelPlanes& planes, int64_t block, Fn&& fn) {
  for (int64_t image = planes.images; image-- > 0;) {
    const int64_t first = (image * planes.blocks + block) * planes.rows;
    ForEachPieceBackward(planes, first, first + planes.rows, fn);
  }
}

// Whether all operands but the images are f32, as TensorFlow's U, and the images of one dtype.
//   images: the indices of input images.
inline bool HasFloat32Parameters(const KernelSpec& spec, std::initializer_list<size_t> images) {
  const DType dtype = spec.outputs[0].dtype;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const bool image = std::count(images.begin(), images.end(), i) > 0;
    if (spec.inputs[i].dtype != (image ? dtype : DType::kFloat32)) return false;
  }
  return true;
}

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_BATCH_NORM_H_
