// Resizes images with TensorFlow's methods, bit for bit where its order of operations allows it.
//
// Images are [height, width, channels] or [batch, height, width, channels] of any number type.
// Accuracy: bilinear, bicubic, area and nearest neighbor give the bits of TensorFlow 2.15.1 on CPU.
// So do the others and `antialias` if both programs use the same C library. Otherwise the relative
// error is below 1e-5. A call runs in the caller's thread: Map's threads share the work.
#ifndef ESTIMATOR_IMAGE_RESIZE_RESIZE_H_
#define ESTIMATOR_IMAGE_RESIZE_RESIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator::image {

// Sizes in pixels: Resize(image, {224, 224}).
struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

// tf.image.ResizeMethod. A radius is in pixels of the input. With `antialias`, and where the result
// is smaller than the input, it is in pixels of the result.
enum class ResizeMethod {
  kBilinear,         // the 2 x 2 nearest pixels; with antialias a triangle of radius 1
  kNearestNeighbor,  // copies a pixel; ignores antialias
  kBicubic,          // Keys' cubic of radius 2
  kArea,             // the mean over the area of the output pixel; ignores antialias
  kLanczos3,         // Lanczos of radius 3
  kLanczos5,         // Lanczos of radius 5
  kGaussian,         // Gaussian of radius 1.5 and standard deviation 0.5
  kMitchellCubic,    // Mitchell and Netravali's cubic of radius 2
};

struct ResizeOptions {
  ResizeMethod method = ResizeMethod::kBilinear;
  // Smooths before it samples, where the result is smaller than the image.
  bool antialias = false;
  // Keeps the ratio of height to width. `size` then is the largest result, not the exact one.
  bool preserve_aspect_ratio = false;
};

// Images of another size. Pixel centers are at half integers.
//   images: [H,W,C] or [N,H,W,C].
//   Returns f32 [size.height,size.width,C], or [N,...] of that; the dtype of `images` for
//   kNearestNeighbor. Values keep their range: 0 to 255 stays 0 to 255.
// Errors: INVALID_ARGUMENT if the rank or the dtype of `images` is another, if it has no pixel or
//   no channel, or if a size is less than 1. Also if preserve_aspect_ratio rounds a size to 0.
// Source: TF 2.15 tf.image.resize.
absl::StatusOr<Array> Resize(const Array& images, ImageSize size, ResizeOptions options = {});

// Resize with pixels rounded to u8, in one pass without an f32 image:
//   tf.saturate_cast(tf.round(tf.image.resize(images, size, ...)), tf.uint8)
// Halves are rounded to even. Values below 0 become 0, those above 255 become 255, NaN becomes 0.
//   Returns u8 for every method, kNearestNeighbor included.
// Errors: those of Resize.
absl::StatusOr<Array> ResizeToUint8(const Array& images, ImageSize size,
                                    ResizeOptions options = {});

struct ResizeWithPadOptions {
  ResizeMethod method = ResizeMethod::kBilinear;
  bool antialias = false;  // as in ResizeOptions
};

// Resizes to the largest size within `target` that keeps the ratio of height to width. Then pads
// with zeros on both sides, one more at the bottom or at the right if the number is odd.
//   images: [H,W,C] or [N,H,W,C].  Returns [target.height,target.width,C] or [N,...] of the dtype
//   that Resize returns.
// Errors: those of Resize; INVALID_ARGUMENT if the ratio makes a side less than one pixel.
// Source: TF 2.15 tf.image.resize_with_pad.
absl::StatusOr<Array> ResizeWithPad(const Array& images, ImageSize target,
                                    ResizeWithPadOptions options = {});

// Which points of input and output coincide, in the functions of TensorFlow 1 below. The default is
// TensorFlow 1's: the top left corners of the top left pixels.
struct LegacyResizeOptions {
  bool align_corners = false;       // the centers of the four corner pixels coincide
  bool half_pixel_centers = false;  // the corners of the images coincide, as in Resize
};

// These are the ops behind TensorFlow 1's names. Shapes, dtypes and errors are as in Resize. Also
// INVALID_ARGUMENT if both options are set.
// Without half_pixel_centers, ResizeBicubic uses the cubic with a = -0.75 and repeats pixels at the
// border. With it, it uses Keys' (a = -0.5) and only pixels inside of the image.
// Source: TF 2.15 tf.compat.v1.image.resize_bilinear, resize_bicubic, resize_nearest_neighbor.
absl::StatusOr<Array> ResizeBilinear(const Array& images, ImageSize size,
                                     LegacyResizeOptions options = {});
absl::StatusOr<Array> ResizeBicubic(const Array& images, ImageSize size,
                                    LegacyResizeOptions options = {});
absl::StatusOr<Array> ResizeNearestNeighbor(const Array& images, ImageSize size,
                                            LegacyResizeOptions options = {});

struct ResizeAreaOptions {
  bool align_corners = false;  // as in LegacyResizeOptions
};

// The mean over the area of each output pixel.
// Source: TF 2.15 tf.compat.v1.image.resize_area.
absl::StatusOr<Array> ResizeArea(const Array& images, ImageSize size,
                                 ResizeAreaOptions options = {});

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RESIZE_RESIZE_H_
