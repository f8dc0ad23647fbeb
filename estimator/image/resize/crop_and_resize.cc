#include "estimator/image/resize/crop_and_resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {
namespace {

constexpr absl::string_view kFunction = "CropAndResize";
constexpr int64_t kMaxCroppedElements = int64_t{1} << 32;  // as in Resize

absl::Status CheckBoxes(const Array& boxes, const Array& box_indices, int64_t batch) {
  if (boxes.dtype() != DType::kFloat32 || boxes.shape().rank() != 2 || boxes.shape()[1] != 4 ||
      box_indices.dtype() != DType::kInt32 || box_indices.shape() != Shape{boxes.shape()[0]}) {
    return InvalidArgument(kFunction, ": boxes must be f32 [B,4] and box_indices i32 [B], got ",
                           boxes.TypeString(), " and ", box_indices.TypeString());
  }
  for (int64_t i = 0; i < boxes.num_elements(); ++i) {
    const float value = boxes.data<float>()[i];
    if (std::isfinite(value)) continue;
    return InvalidArgument(kFunction, ": coordinate ", i % 4, " of box ", i / 4, " is ", value,
                           "; coordinates must be finite");
  }
  for (int64_t b = 0; b < box_indices.num_elements(); ++b) {
    const int32_t index = box_indices.data<int32_t>()[b];
    if (0 <= index && index < batch) continue;
    return OutOfRange(kFunction, ": box_indices[", b, "] is ", index, ", but the batch has ", batch,
                      " image", batch == 1 ? "" : "s", "; indices begin at 0");
  }
  return absl::OkStatus();
}

// Where the positions of a crop are in the input. NaN stands for a position outside of the image.
std::vector<float> Coordinates(float begin, float end, int64_t in_size, int64_t crop_size) {
  const float last = static_cast<float>(in_size - 1);
  const float scale = crop_size > 1 ? (end - begin) * last / static_cast<float>(crop_size - 1) : 0;
  std::vector<float> result;
  for (int64_t i = 0; i < crop_size; ++i) {
    const float in =
        crop_size > 1 ? begin * last + static_cast<float>(i) * scale
                      : static_cast<float>(0.5 * (begin + end) * static_cast<double>(in_size - 1));
    result.push_back(in < 0 || in > last ? std::nanf("") : in);
  }
  return result;
}

// One box. The image and the crop have `channels` channels.
template <typename T>
void Crop(const T* image, const ImageShape& shape, const float* box, ImageSize size,
          const CropAndResizeOptions& options, float* out) {
  const std::vector<float> ys = Coordinates(box[0], box[2], shape.height, size.height);
  const std::vector<float> xs = Coordinates(box[1], box[3], shape.width, size.width);
  const int64_t channels = shape.channels;
  const auto pixel = [&](float y, float x) {
    return image + (static_cast<int64_t>(y) * shape.width + static_cast<int64_t>(x)) * channels;
  };
  for (const float y : ys) {
    for (const float x : xs) {
      if (std::isnan(y) || std::isnan(x)) {
        out = std::fill_n(out, channels, options.extrapolation_value);
        continue;
      }
      if (options.method == ResizeMethod::kNearestNeighbor) {
        const T* nearest = pixel(std::round(y), std::round(x));
        out = std::transform(nearest, nearest + channels, out,
                             [](T value) { return static_cast<float>(value); });
        continue;
      }
      const float top = std::floor(y), left = std::floor(x);
      const float bottom = std::ceil(y), right = std::ceil(x);
      const T *top_left = pixel(top, left), *top_right = pixel(top, right);
      const T *bottom_left = pixel(bottom, left), *bottom_right = pixel(bottom, right);
      for (int64_t c = 0; c < channels; ++c) {
        const auto lerp = [](float a, float b, float weight) { return a + (b - a) * weight; };
        const float above =
            lerp(static_cast<float>(top_left[c]), static_cast<float>(top_right[c]), x - left);
        const float below =
            lerp(static_cast<float>(bottom_left[c]), static_cast<float>(bottom_right[c]), x - left);
        *out++ = lerp(above, below, y - top);
      }
    }
  }
}

}  // namespace

absl::StatusOr<Array> CropAndResize(const Array& images, const Array& boxes,
                                    const Array& box_indices, ImageSize crop_size,
                                    CropAndResizeOptions options) {
  EST_ASSIGN_OR_RETURN(const ImageShape shape, BatchedImageShape(kFunction, images));
  if (images.shape().rank() != 4 || shape.height < 1 || shape.width < 1) {
    return InvalidArgument(
        kFunction, ": images must be [N,H,W,C] with at least one pixel, got ", images.TypeString(),
        images.shape().rank() == 3 ? "; add an axis of 1 image with Reshaped" : "");
  }
  if (crop_size.height < 1 || crop_size.width < 1) {
    return InvalidArgument(kFunction, ": both sizes of crop_size must be at least 1, got {",
                           crop_size.height, ", ", crop_size.width, "}");
  }
  if (options.method != ResizeMethod::kBilinear &&
      options.method != ResizeMethod::kNearestNeighbor) {
    return InvalidArgument(kFunction, ": method must be kBilinear or kNearestNeighbor, got method ",
                           static_cast<int>(options.method),
                           "; crop first and call Resize for others");
  }
  EST_RETURN_IF_ERROR(CheckBoxes(boxes, box_indices, shape.batch));
  const Shape result_shape = {boxes.shape()[0], crop_size.height, crop_size.width, shape.channels};
  if (!HasElementsAtMost(result_shape, kMaxCroppedElements)) {
    return InvalidArgument(kFunction, ": the result ", result_shape.ToString(), " has more than ",
                           kMaxCroppedElements, " elements; use smaller crops");
  }
  Array result(DType::kFloat32, result_shape);
  if (result.num_elements() == 0) return result;
  const Array floats = images.dtype() == DType::kUint8 ? images : images.Cast(DType::kFloat32);
  float* out = result.data<float>();
  const int64_t crop_elements = result.num_elements() / boxes.shape()[0];
  for (int64_t b = 0; b < boxes.shape()[0]; ++b, out += crop_elements) {
    const float* box = boxes.data<float>() + 4 * b;
    const int64_t offset = box_indices.data<int32_t>()[b] * shape.image_size();
    if (floats.dtype() == DType::kUint8) {
      Crop(floats.data<uint8_t>() + offset, shape, box, crop_size, options, out);
    } else {
      Crop(floats.data<float>() + offset, shape, box, crop_size, options, out);
    }
  }
  return result;
}

}  // namespace estimator::image
