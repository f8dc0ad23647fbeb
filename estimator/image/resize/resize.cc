#include "estimator/image/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/image/image_buffer.h"
#include "estimator/image/image_shape.h"
#include "estimator/image/resize/resample.h"
#include "estimator/image/row_sink.h"

namespace estimator::image {
namespace {

// 16 GiB of f32: a larger result is a mistake in the size.
constexpr int64_t kMaxElements = int64_t{1} << 32;
// f32 counts pixels exactly up to here, and TensorFlow allows no more.
constexpr int64_t kMaxSide = int64_t{1} << 24;

std::string Sizes(ImageSize size) { return absl::StrCat("{", size.height, ", ", size.width, "}"); }

// One call of a function that resizes.
struct Request {
  ResizeMethod method = ResizeMethod::kBilinear;
  bool antialias = false;
  bool align_corners = false;
  bool half_pixel_centers = true;
  bool to_uint8 = false;
};

// The sizes of the images, if they can be resized to `size`.
absl::StatusOr<ImageShape> CheckSizes(absl::string_view function, const Array& images,
                                      ImageSize size) {
  EST_ASSIGN_OR_RETURN(const ImageShape shape, BatchedImageShape(function, images));
  if (size.height < 1 || size.width < 1) {
    return InvalidArgument(function,
                           ": both sizes must be at least 1, got {height, width} = ", Sizes(size),
                           " for images ", images.TypeString());
  }
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1) {
    return InvalidArgument(function, ": images need at least one pixel and one channel, got ",
                           images.TypeString(), "; remove empty images, as with Filter");
  }
  if (std::max({size.height, size.width, shape.height, shape.width}) > kMaxSide ||
      !HasElementsAtMost(ResizedShape(images, size.height, size.width), kMaxElements)) {
    return InvalidArgument(function, ": a side may have ", kMaxSide, " pixels and the result ",
                           kMaxElements, " elements, got images ", images.TypeString(),
                           " and size ", Sizes(size), "; use a smaller size or batch");
  }
  return shape;
}

template <typename T>
void RunMethod(const Request& request, const T* images, const Resampling& resampling,
               RowSink* sink) {
  switch (request.method) {
    case ResizeMethod::kArea:
      return ResampleArea(images, resampling, sink);
    case ResizeMethod::kBilinear:
      if (!request.antialias) return ResampleBilinear(images, resampling, sink);
      break;
    case ResizeMethod::kBicubic:
      if (!request.antialias) return ResampleBicubic(images, resampling, sink);
      break;
    default:
      break;
  }
  ResampleWithKernel(images, resampling, request.method, request.antialias, sink);
}

// saturate_cast(round(x), u8).
Array RoundedToUint8(const Array& images) {
  if (images.dtype() == DType::kUint8) return images;
  Array result(DType::kUint8, images.shape());
  VisitNumeric(images.dtype(), [&](auto tag) {
    const auto in = images.values<decltype(tag)>();
    uint8_t* out = result.data<uint8_t>();
    for (const auto value : in) {
      const double x = static_cast<double>(value);
      *out++ = static_cast<uint8_t>(x > 0 ? std::nearbyint(std::min(x, 255.0)) : 0);
    }
  });
  return result;
}

// REQUIRES: CheckSizes() accepts the arguments and returned `shape`.
absl::StatusOr<Array> RunResize(const Request& request, const Array& images,
                                const ImageShape& shape, ImageSize size) {
  const Resampling resampling = {shape, size, request.align_corners, request.half_pixel_centers};
  const Shape result_shape = ResizedShape(images, size.height, size.width);
  if (request.method == ResizeMethod::kNearestNeighbor) {
    EST_ASSIGN_OR_RETURN(Array result, UninitializedArray(images.dtype(), result_shape));
    const int64_t pixel_bytes = shape.channels * static_cast<int64_t>(DTypeSize(images.dtype()));
    if (result.num_elements() > 0) {
      ResampleNearestNeighbor(images.raw(), resampling, pixel_bytes, result.raw());
    }
    return request.to_uint8 ? RoundedToUint8(result) : result;
  }
  EST_ASSIGN_OR_RETURN(
      Array result,
      UninitializedArray(request.to_uint8 ? DType::kUint8 : DType::kFloat32, result_shape));
  if (result.num_elements() == 0) return result;  // no image
  RowSink sink(&result, size.width * shape.channels);
  if (images.dtype() == DType::kUint8) {
    RunMethod(request, images.data<uint8_t>(), resampling, &sink);
  } else {
    // TensorFlow's kernels convert each pixel to f32 where they read it.
    const Array floats = images.Cast(DType::kFloat32);
    RunMethod(request, floats.data<float>(), resampling, &sink);
  }
  return result;
}

// ResizeBilinear and its like.
absl::StatusOr<Array> LegacyResize(absl::string_view function, ResizeMethod method,
                                   const Array& images, ImageSize size,
                                   const LegacyResizeOptions& options) {
  if (options.align_corners && options.half_pixel_centers) {
    return InvalidArgument(function,
                           ": align_corners and half_pixel_centers are both true for images ",
                           images.TypeString(), "; set one of them");
  }
  EST_ASSIGN_OR_RETURN(const ImageShape shape, CheckSizes(function, images, size));
  return RunResize({.method = method,
                    .align_corners = options.align_corners,
                    .half_pixel_centers = options.half_pixel_centers},
                   images, shape, size);
}

// The largest size within `size` that keeps the ratio. TensorFlow computes it in f32.
ImageSize SizeWithAspectRatio(const ImageShape& shape, ImageSize size) {
  const float height = static_cast<float>(shape.height), width = static_cast<float>(shape.width);
  const float scale =
      std::min(static_cast<float>(size.height) / height, static_cast<float>(size.width) / width);
  return {static_cast<int64_t>(std::nearbyint(scale * height)),
          static_cast<int64_t>(std::nearbyint(scale * width))};
}

absl::StatusOr<Array> ResizeWithOptions(absl::string_view function, const Array& images,
                                        ImageSize size, const ResizeOptions& options,
                                        bool to_uint8) {
  EST_ASSIGN_OR_RETURN(const ImageShape shape, CheckSizes(function, images, size));
  ImageSize exact = size;
  if (options.preserve_aspect_ratio) {
    exact = SizeWithAspectRatio(shape, size);
    if (exact.height < 1 || exact.width < 1) {
      return InvalidArgument(function, ": preserve_aspect_ratio makes size ", Sizes(size), " into ",
                             Sizes(exact), " for images ", images.TypeString(),
                             "; use a larger size");
    }
  }
  return RunResize({.method = options.method, .antialias = options.antialias, .to_uint8 = to_uint8},
                   images, shape, exact);
}

}  // namespace

float ResizeScale(int64_t in_size, int64_t out_size, bool align_corners) {
  if (align_corners && in_size > 1 && out_size > 1)
    return static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1);
  return static_cast<float>(in_size) / static_cast<float>(out_size);
}

absl::StatusOr<Array> Resize(const Array& images, ImageSize size, ResizeOptions options) {
  return ResizeWithOptions("Resize", images, size, options, /*to_uint8=*/false);
}

absl::StatusOr<Array> ResizeToUint8(const Array& images, ImageSize size, ResizeOptions options) {
  return ResizeWithOptions("ResizeToUint8", images, size, options, /*to_uint8=*/true);
}

absl::StatusOr<Array> ResizeWithPad(const Array& images, ImageSize target,
                                    ResizeWithPadOptions options) {
  constexpr absl::string_view kFunction = "ResizeWithPad";
  EST_ASSIGN_OR_RETURN(const ImageShape shape, CheckSizes(kFunction, images, target));
  const float height = static_cast<float>(shape.height), width = static_cast<float>(shape.width);
  const float target_height = static_cast<float>(target.height);
  const float target_width = static_cast<float>(target.width);
  const float ratio = std::max(width / target_width, height / target_height);
  const float exact_height = height / ratio, exact_width = width / ratio;
  // Rounding of `ratio` may lead one pixel past the target.
  const ImageSize size = {std::min(static_cast<int64_t>(std::floor(exact_height)), target.height),
                          std::min(static_cast<int64_t>(std::floor(exact_width)), target.width)};
  if (size.height < 1 || size.width < 1) {
    return InvalidArgument(kFunction, ": images ", images.TypeString(), " become ", Sizes(size),
                           " within ", Sizes(target), "; use a larger target");
  }
  const int64_t top =
      std::max<int64_t>(0, static_cast<int64_t>(std::floor((target_height - exact_height) / 2)));
  const int64_t left =
      std::max<int64_t>(0, static_cast<int64_t>(std::floor((target_width - exact_width) / 2)));
  const Request request = {.method = options.method, .antialias = options.antialias};
  EST_ASSIGN_OR_RETURN(const Array resized, RunResize(request, images, shape, size));
  return PaddedWithZeros(resized, std::min(top, target.height - size.height),
                         std::min(left, target.width - size.width), target.height, target.width);
}

absl::StatusOr<Array> ResizeBilinear(const Array& images, ImageSize size,
                                     LegacyResizeOptions options) {
  return LegacyResize("ResizeBilinear", ResizeMethod::kBilinear, images, size, options);
}

absl::StatusOr<Array> ResizeBicubic(const Array& images, ImageSize size,
                                    LegacyResizeOptions options) {
  return LegacyResize("ResizeBicubic", ResizeMethod::kBicubic, images, size, options);
}

absl::StatusOr<Array> ResizeNearestNeighbor(const Array& images, ImageSize size,
                                            LegacyResizeOptions options) {
  return LegacyResize("ResizeNearestNeighbor", ResizeMethod::kNearestNeighbor, images, size,
                      options);
}

absl::StatusOr<Array> ResizeArea(const Array& images, ImageSize size, ResizeAreaOptions options) {
  return LegacyResize("ResizeArea", ResizeMethod::kArea, images, size,
                      {.align_corners = options.align_corners});
}

}  // namespace estimator::image
