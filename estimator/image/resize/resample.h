// The methods of resizing: each computes the rows of the result in order. TensorFlow's order of
// operations is kept, so these files are compiled without contraction into fused multiply-adds.
#ifndef ESTIMATOR_IMAGE_RESIZE_RESAMPLE_H_
#define ESTIMATOR_IMAGE_RESIZE_RESAMPLE_H_

#include <cstdint>

#include "estimator/image/image_shape.h"
#include "estimator/image/resize/resize.h"
#include "estimator/image/row_sink.h"

namespace estimator::image {

struct Resampling {
  ImageShape in;
  ImageSize out;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

// The number of input pixels per output pixel along an axis.
float ResizeScale(int64_t in_size, int64_t out_size, bool align_corners);

// The coordinate of an output pixel in the input, where pixel i of the input is at i.
inline float InputCoordinate(int64_t out, float scale, bool half_pixel_centers) {
  const float x = static_cast<float>(static_cast<int>(out));
  return half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
}

// All of these: T is uint8_t or float; REQUIRES no empty axis.
template <typename T>
void ResampleBilinear(const T* images, const Resampling& resampling, RowSink* sink);
template <typename T>
void ResampleBicubic(const T* images, const Resampling& resampling, RowSink* sink);
// Ignores half_pixel_centers.
template <typename T>
void ResampleArea(const T* images, const Resampling& resampling, RowSink* sink);
// TensorFlow's ScaleAndTranslate without translation. Ignores align_corners and half_pixel_centers.
// `method`: not kNearestNeighbor or kArea.
template <typename T>
void ResampleWithKernel(const T* images, const Resampling& resampling, ResizeMethod method,
                        bool antialias, RowSink* sink);

// Copies pixels of `pixel_bytes` bytes.
void ResampleNearestNeighbor(const void* images, const Resampling& resampling, int64_t pixel_bytes,
                             void* result);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RESIZE_RESAMPLE_H_
