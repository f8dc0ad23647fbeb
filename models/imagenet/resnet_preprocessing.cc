#include "models/imagenet/resnet_preprocessing.h"

#include <algorithm>

#include "estimator/base/status.h"
#include "estimator/image/box.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/geometry.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/random/distorted_bounding_box.h"
#include "estimator/image/random/random_geometry.h"
#include "estimator/image/resize/resize.h"

namespace estimator::imagenet {
namespace {

constexpr int64_t kCropPadding = 32;

// An encoded image. Its pixels are decoded when a window is asked for.
class EncodedImage {
 public:
  static absl::StatusOr<EncodedImage> Open(absl::string_view bytes) {
    EncodedImage image(bytes);
    if (image::IsJpeg(bytes)) {
      EST_ASSIGN_OR_RETURN(image.shape_, image::JpegShape(bytes));
    } else {
      EST_ASSIGN_OR_RETURN(image.pixels_, image::DecodeImage(bytes, {.channels = 3}));
      image.shape_ = image.pixels_.shape();
    }
    return image;
  }

  int64_t height() const { return shape_[0]; }
  int64_t width() const { return shape_[1]; }

  // Returns the window as u8 [window.height, window.width, 3].
  absl::StatusOr<Array> Crop(const image::Box& window) const {
    if (pixels_.dtype() == DType::kInvalid)
      return image::DecodeAndCropJpeg(bytes_, window, {.channels = 3});
    return image::CropToBoundingBox(pixels_, window.y, window.x, window.height, window.width);
  }

 private:
  explicit EncodedImage(absl::string_view bytes) : bytes_(bytes) {}

  absl::string_view bytes_;
  Shape shape_;
  Array pixels_;  // of a format other than JPEG
};

absl::Status CheckImageSize(int64_t image_size) {
  if (image_size >= 1) return absl::OkStatus();
  return InvalidArgument("image_size must be positive, got ", image_size);
}

// The arithmetic is the original's: f32, rounded down.
image::Box CenterWindow(const EncodedImage& image, int64_t image_size) {
  const auto fraction = static_cast<float>(static_cast<double>(image_size) /
                                           static_cast<double>(image_size + kCropPadding));
  const auto shorter = static_cast<float>(std::min(image.height(), image.width()));
  const int64_t side = std::max<int64_t>(1, static_cast<int64_t>(fraction * shorter));
  return {.y = (image.height() - side + 1) / 2,
          .x = (image.width() - side + 1) / 2,
          .height = side,
          .width = side};
}

absl::StatusOr<image::Box> RandomWindow(const EncodedImage& image, RandomStream& random) {
  static const Array* const whole = new Array(Array::Of<float>({1, 1, 4}, {0.f, 0.f, 1.f, 1.f}));
  EST_ASSIGN_OR_RETURN(const image::DistortedBoundingBox window,
                       image::StatelessSampleDistortedBoundingBox(
                           Shape({image.height(), image.width(), 3}), *whole, random.NextSeed(),
                           {.min_object_covered = 0.1f,
                            .aspect_ratio_range = {3.f / 4, 4.f / 3},
                            .area_range = {0.08f, 1.f},
                            .max_attempts = 10,
                            .use_image_if_no_bounding_boxes = true}));
  return image::Box{.y = window.begin[0],
                    .x = window.begin[1],
                    .height = window.size[0],
                    .width = window.size[1]};
}

absl::StatusOr<Array> CropAndResize(const EncodedImage& image, const image::Box& window,
                                    int64_t image_size) {
  EST_ASSIGN_OR_RETURN(const Array crop, image.Crop(window));
  return image::ResizeBicubic(crop, {image_size, image_size});
}

}  // namespace

absl::StatusOr<Array> PreprocessForTrain(StringArg image_bytes, int64_t image_size,
                                         RandomStream& random) {
  EST_RETURN_IF_ERROR(CheckImageSize(image_size));
  EST_ASSIGN_OR_RETURN(const EncodedImage image, EncodedImage::Open(image_bytes));
  EST_ASSIGN_OR_RETURN(image::Box window, RandomWindow(image, random));
  if (window.height == image.height() && window.width == image.width())
    window = CenterWindow(image, image_size);
  EST_ASSIGN_OR_RETURN(const Array resized, CropAndResize(image, window, image_size));
  return image::StatelessRandomFlipLeftRight(resized, random.NextSeed());
}

absl::StatusOr<Array> PreprocessForEval(StringArg image_bytes, int64_t image_size) {
  EST_RETURN_IF_ERROR(CheckImageSize(image_size));
  EST_ASSIGN_OR_RETURN(const EncodedImage image, EncodedImage::Open(image_bytes));
  return CropAndResize(image, CenterWindow(image, image_size), image_size);
}

}  // namespace estimator::imagenet
