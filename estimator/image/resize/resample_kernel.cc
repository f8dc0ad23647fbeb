// Resampling with a kernel of any radius: along y in all columns, then along x. A kernel that
// smooths is stretched by the ratio of the sizes. The weights of an output pixel add up to 1.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "estimator/image/pixel_vector.h"
#include "estimator/image/resize/resample.h"
#include "glog/logging.h"

namespace estimator::image {
namespace {

float Lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;  // the limit of sin(x) / x
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

float Gaussian(float x) {
  constexpr float kRadius = 1.5f, kSigma = 0.5f;
  if (x >= kRadius) return 0;
  return static_cast<float>(std::exp(-x * x / (2.0 * kSigma * kSigma)));
}

float Triangle(float x) { return x < 1 ? 1 - x : 0; }

float KeysCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return ((1.5f * x - 2.5f) * x) * x + 1;
}

float MitchellCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0f / 18.0f) * x + 2) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
  return (((7.0f / 6.0f) * x - 2) * x) * x + 8.0f / 9.0f;
}

struct Kernel {
  float radius;
  float (*weight)(float x);  // at distance x >= 0
};

Kernel KernelOf(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::kBilinear:
      return {1, Triangle};
    case ResizeMethod::kBicubic:
      return {2, KeysCubic};
    case ResizeMethod::kMitchellCubic:
      return {2, MitchellCubic};
    case ResizeMethod::kLanczos3:
      return {3, [](float x) { return Lanczos(x, 3); }};
    case ResizeMethod::kLanczos5:
      return {5, [](float x) { return Lanczos(x, 5); }};
    case ResizeMethod::kGaussian:
      return {1.5f, Gaussian};
    case ResizeMethod::kNearestNeighbor:
    case ResizeMethod::kArea:
      break;
  }
  LOG(FATAL) << "the method has no kernel";
}

// The weights of `size` input positions from starts[i], for each output position i. Weights past
// the end of an output position's kernel are 0.
struct Spans {
  int64_t size = 0;
  std::vector<int64_t> starts;
  std::vector<float> weights;  // [output size, size]
};

Spans ComputeSpans(ResizeMethod method, int64_t in_size, int64_t out_size, bool antialias) {
  // The scale is rounded to float, and so is its inverse.
  const float scale = static_cast<float>(out_size) / static_cast<float>(in_size);
  const float inverse_scale = static_cast<float>(1.0 / scale);
  const float kernel_scale = antialias ? std::max(inverse_scale, 1.0f) : 1.0f;
  const float one_over_kernel_scale = 1 / kernel_scale;
  const auto [radius, weight_at] = KernelOf(method);
  Spans spans;
  spans.size = std::min(2 * static_cast<int64_t>(std::ceil(radius * kernel_scale)) + 1, in_size);
  spans.starts.resize(static_cast<size_t>(out_size));
  spans.weights.resize(static_cast<size_t>(out_size * spans.size));
  for (int64_t i = 0; i < out_size; ++i) {
    const float sample = (static_cast<float>(i) + 0.5f) * inverse_scale;
    // Rounding may place the last sample outside of the image. TensorFlow leaves its pixel at 0.
    if (sample > static_cast<float>(in_size)) continue;
    const int64_t start = std::clamp<int64_t>(
        static_cast<int64_t>(std::ceil(sample - radius * kernel_scale - 0.5f)), 0, in_size - 1);
    const int64_t last = std::clamp<int64_t>(
        static_cast<int64_t>(std::floor(sample + radius * kernel_scale - 0.5f)), 0, in_size - 1);
    const int64_t end = std::min(last + 1, start + spans.size);
    float* weights = &spans.weights[static_cast<size_t>(i * spans.size)];
    float sum = 0;
    for (int64_t source = start; source < end; ++source) {
      const float position = static_cast<float>(source) + 0.5f - sample;
      const float weight = weight_at(std::abs(position * one_over_kernel_scale));
      weights[source - start] = weight;
      sum += weight;
    }
    // If no pixel is within the radius, the sum is 0, and so are the weights.
    const bool normal = std::abs(sum) >= 1000 * std::numeric_limits<float>::min();
    const float one_over_sum = normal ? 1 / sum : 0;
    for (int64_t k = 0; k < end - start; ++k) weights[k] *= one_over_sum;
    spans.starts[static_cast<size_t>(i)] = start;
  }
  return spans;
}

template <typename T>
void AddScaled(const T* __restrict row, float weight, int64_t n, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] += weight * static_cast<float>(row[i]);
}

void GatherColumns(const float* row, const Spans& spans, int64_t in_width, int64_t channels,
                   float* out) {
  const float* weights = spans.weights.data();
  for (const int64_t start : spans.starts) {
    const int64_t size = std::min(spans.size, in_width - start);
    const float* pixel = row + start * channels;
    if (UsesPixelVectors(channels)) {
      Float4 sum = SetPixel(0);
      for (int64_t k = 0; k < size; ++k, pixel += channels) {
        sum = sum + SetPixel(weights[k]) * LoadPixel(pixel);
      }
      StorePixel(sum, out);
    } else {
      std::fill_n(out, channels, 0.f);
      for (int64_t k = 0; k < size; ++k, pixel += channels) {
        AddScaled(pixel, weights[k], channels, out);
      }
    }
    out += channels;
    weights += spans.size;
  }
}

}  // namespace

template <typename T>
void ResampleWithKernel(const T* images, const Resampling& resampling, ResizeMethod method,
                        bool antialias, RowSink* sink) {
  const ImageShape& in = resampling.in;
  const Spans xs = ComputeSpans(method, in.width, resampling.out.width, antialias);
  const Spans ys = ComputeSpans(method, in.height, resampling.out.height, antialias);
  std::vector<float> row(static_cast<size_t>(in.row_size() + 3));
  for (int64_t b = 0; b < in.batch; ++b, images += in.image_size()) {
    for (size_t y = 0; y < ys.starts.size(); ++y) {
      const int64_t start = ys.starts[y];
      const int64_t size = std::min(ys.size, in.height - start);
      std::fill(row.begin(), row.end(), 0.f);
      for (int64_t k = 0; k < size; ++k) {
        AddScaled(images + (start + k) * in.row_size(),
                  ys.weights[y * static_cast<size_t>(ys.size) + static_cast<size_t>(k)],
                  in.row_size(), row.data());
      }
      GatherColumns(row.data(), xs, in.width, in.channels, sink->Next());
      sink->Done();
    }
  }
}

template void ResampleWithKernel(const uint8_t*, const Resampling&, ResizeMethod, bool, RowSink*);
template void ResampleWithKernel(const float*, const Resampling&, ResizeMethod, bool, RowSink*);

}  // namespace estimator::image
