#include "estimator/image/image_shape.h"

#include "estimator/base/status.h"

namespace estimator::image {
namespace {

absl::Status CheckNumber(absl::string_view function, const Array& images) {
  if (IsFloating(images.dtype()) || IsInteger(images.dtype())) return absl::OkStatus();
  return InvalidArgument(
      function, ": images must be numbers, got ",
      images.valid() ? images.TypeString() : "an empty Array",
      images.dtype() == DType::kString ? "; decode them first, as with DecodeImage" : "");
}

ImageShape LastAxes(const Array& images) {
  const Shape& shape = images.shape();
  ImageShape result = {1, shape.dim(-3), shape.dim(-2), shape.dim(-1)};
  for (int axis = 0; axis < shape.rank() - 3; ++axis) result.batch *= shape.dim(axis);
  return result;
}

}  // namespace

absl::StatusOr<ImageShape> BatchedImageShape(absl::string_view function, const Array& images) {
  EST_RETURN_IF_ERROR(CheckNumber(function, images));
  const int rank = images.shape().rank();
  if (rank != 3 && rank != 4) {
    return InvalidArgument(
        function, ": images must be [height,width,channels] or [batch,height,width,channels], got ",
        images.TypeString(), rank == 2 ? "; add an axis of 1 channel with Reshaped" : "");
  }
  return LastAxes(images);
}

absl::StatusOr<ImageShape> AnyImageShape(absl::string_view function, const Array& images) {
  EST_RETURN_IF_ERROR(CheckNumber(function, images));
  if (images.shape().rank() < 3) {
    return InvalidArgument(function, ": images must be at least [height,width,channels], got ",
                           images.TypeString(), "; add the missing axes with Reshaped");
  }
  return LastAxes(images);
}

absl::Status CheckHoldsNumbers(absl::string_view function, const Array& array) {
  if (DTypeSize(array.dtype()) > 0) return absl::OkStatus();
  return InvalidArgument(function, ": expects numbers, got ", array.TypeString(),
                         array.dtype() == DType::kString ? "; decode the image first" : "");
}

absl::Status CheckHasPixels(absl::string_view function, const Array& images) {
  EST_RETURN_IF_ERROR(CheckHoldsNumbers(function, images));
  const Shape& shape = images.shape();
  if (shape.rank() != 3 && shape.rank() != 4) {
    return InvalidArgument(function,
                           ": image must have either 3 or 4 dimensions, [H,W,C] or [N,H,W,C], got ",
                           images.TypeString());
  }
  for (const int axis : {-3, -2, -1}) {
    if (shape.dim(axis) > 0) continue;
    return InvalidArgument(function, ": inner 3 dims of image must be > 0, got ",
                           images.TypeString());
  }
  return absl::OkStatus();
}

absl::Status CheckChannels(absl::string_view function, const Array& images, int64_t channels,
                           absl::string_view cure) {
  if (images.shape().dim(-1) == channels) return absl::OkStatus();
  return InvalidArgument(function, ": the last axis must be ", channels, " channel",
                         channels == 1 ? "" : "s", ", got ", images.TypeString(), "; ", cure);
}

Shape ResizedShape(const Array& images, int64_t height, int64_t width) {
  Shape shape = images.shape();
  shape.set_dim(-3, height);
  shape.set_dim(-2, width);
  return shape;
}

}  // namespace estimator::image
