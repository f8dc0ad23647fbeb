#include "estimator/image/random/distorted_bounding_box.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"

namespace estimator::image {
namespace {

// Pixels [min_x, max_x) x [min_y, max_y).
struct Rectangle {
  int64_t min_x = 0, min_y = 0, max_x = 0, max_y = 0;

  float Area() const { return static_cast<float>((max_x - min_x) * (max_y - min_y)); }
};

Rectangle Intersection(const Rectangle& a, const Rectangle& b) {
  const Rectangle both = {.min_x = std::max(a.min_x, b.min_x),
                          .min_y = std::max(a.min_y, b.min_y),
                          .max_x = std::min(a.max_x, b.max_x),
                          .max_y = std::min(a.max_y, b.max_y)};
  if (both.min_x > both.max_x || both.min_y > both.max_y) return {};
  return both;
}

// The numbers of a window in their order.
class Numbers : public PhiloxNumbers {
 public:
  using PhiloxNumbers::PhiloxNumbers;

  float Float() { return UniformFloat(Next()); }
  // An integer in [0, n), all equally likely. REQUIRES: n > 0.
  int64_t Below(int64_t n) {
    const auto range = static_cast<uint32_t>(n);
    if ((range & (range - 1)) == 0) return Next() & (range - 1);
    // 2^32 mod n numbers at the beginning are drawn again.
    const uint32_t excess = std::numeric_limits<uint32_t>::max() % range + 1;
    uint32_t number = Next();
    while (number < excess) number = Next();
    return number % range;
  }
};

// Rounds halves to even. A number that does not fit into 32 bits loses its upper bits, as in
// TensorFlow; such a window is refused later.
int64_t Round(float x) { return static_cast<int32_t>(std::lrint(x)); }

// A window of this aspect ratio, or none if the range of areas has no such window. The order and
// the dtypes of the operations are those of TensorFlow, because they decide the rounding.
std::optional<Rectangle> RandomWindow(int64_t image_width, int64_t image_height,
                                      const std::array<float, 2>& area_range, float aspect_ratio,
                                      Numbers& numbers) {
  if (image_width <= 0 || image_height <= 0 || area_range[0] > area_range[1]) return std::nullopt;
  const auto width_f = static_cast<float>(image_width), height_f = static_cast<float>(image_height);
  const float min_area = area_range[0] * width_f * height_f;
  const float max_area = area_range[1] * width_f * height_f;
  const auto width_of = [aspect_ratio](int64_t height) {
    return Round(static_cast<float>(height) * aspect_ratio);
  };

  int64_t height = Round(std::sqrt(min_area / aspect_ratio));
  int64_t max_height = Round(std::sqrt(max_area / aspect_ratio));
  if (width_of(max_height) > image_width) {
    constexpr double kEpsilon = 0.0000001f;
    max_height =
        static_cast<int64_t>((static_cast<double>(image_width) + 0.5 - kEpsilon) / aspect_ratio);
    if (width_of(max_height) > image_width) --max_height;
  }
  max_height = std::min(max_height, image_height);
  height = std::min(height, max_height);
  if (height < max_height) height += numbers.Below(max_height - height + 1);
  int64_t width = 0;
  float area = 0;
  const auto set_height = [&](int64_t new_height) {
    height = new_height;
    width = width_of(height);
    area = static_cast<float>(width * height);
  };
  set_height(height);
  // Rounding may have moved the area out of its range: try a slightly larger window, or a smaller.
  if (area < min_area) set_height(height + 1);
  if (area > max_area) set_height(height - 1);
  if (area < min_area || area > max_area || width > image_width || height > image_height ||
      width <= 0 || height <= 0) {
    return std::nullopt;
  }
  // As in TensorFlow, the last offset, image_height - height, is never drawn.
  const int64_t y = height < image_height ? numbers.Below(image_height - height) : 0;
  const int64_t x = width < image_width ? numbers.Below(image_width - width) : 0;
  return Rectangle{.min_x = x, .min_y = y, .max_x = x + width, .max_y = y + height};
}

// Whether the window contains enough of one of the boxes. Boxes without a pixel do not count.
bool CoversABox(const Rectangle& window, const std::vector<Rectangle>& boxes,
                float min_object_covered) {
  constexpr float kMinArea = 1;
  if (window.Area() < kMinArea) return false;
  return std::any_of(boxes.begin(), boxes.end(), [&](const Rectangle& box) {
    return box.Area() >= kMinArea &&
           Intersection(window, box).Area() / box.Area() >= min_object_covered;
  });
}

absl::Status Invalid(absl::string_view message) {
  return InvalidArgument("StatelessSampleDistortedBoundingBox: ", message);
}

absl::Status CheckOptions(const SampleDistortedBoundingBoxOptions& options) {
  const auto& [ratio_low, ratio_high] = options.aspect_ratio_range;
  const auto& [area_low, area_high] = options.area_range;
  if (!(ratio_low > 0 && ratio_high > 0) || std::isinf(ratio_low) || std::isinf(ratio_high)) {
    return Invalid(absl::StrCat("aspect_ratio_range must be positive and finite, got [", ratio_low,
                                ", ", ratio_high, "]"));
  }
  if (!(area_low > 0 && area_high > 0 && area_low <= 1 && area_high <= 1)) {
    return Invalid(absl::StrCat("area_range must be within (0, 1], fractions of the image; got [",
                                area_low, ", ", area_high, "]"));
  }
  if (options.max_attempts <= 0) {
    return Invalid(absl::StrCat("max_attempts must be > 0, got ", options.max_attempts));
  }
  if (!(options.min_object_covered >= 0)) {
    return Invalid(
        absl::StrCat("min_object_covered must be >= 0, got ", options.min_object_covered));
  }
  return absl::OkStatus();
}

absl::Status CheckImageSize(const Shape& image_size) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  if (image_size.rank() != 3) {
    return Invalid(
        absl::StrCat("image_size must contain 3 elements, [height, width, channels], got ",
                     image_size.ToString(), "; a batch has one window for each image"));
  }
  for (const int axis : {0, 1}) {
    if (image_size.dim(axis) >= 0 && image_size.dim(axis) < kLimit) continue;
    return Invalid(absl::StrCat("image height and width must be in [0, 2^31 - 1), got ",
                                image_size.ToString()));
  }
  return absl::OkStatus();
}

// The boxes in pixels.
absl::StatusOr<std::vector<Rectangle>> BoxesInPixels(const Shape& image_size, const Array& boxes) {
  if (boxes.dtype() != DType::kFloat32 || boxes.shape().rank() != 3 || boxes.shape().dim(2) != 4) {
    return Invalid(
        absl::StrCat("bounding_boxes must be f32 [batch, num_boxes, 4], got ", boxes.TypeString()));
  }
  const auto height = static_cast<float>(image_size.dim(0));
  const auto width = static_cast<float>(image_size.dim(1));
  std::vector<Rectangle> rectangles;
  const absl::Span<const float> values = boxes.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] <= 1) continue;
    return Invalid(absl::StrCat("all bounding box coordinates must be in [0.0, 1.0], got ",
                                values[i], " in box ", i / 4,
                                "; divide y by the height and x by the width of the image"));
  }
  for (size_t i = 0; i < values.size(); i += 4) {
    rectangles.push_back({.min_x = static_cast<int64_t>(values[i + 1] * width),
                          .min_y = static_cast<int64_t>(values[i] * height),
                          .max_x = static_cast<int64_t>(values[i + 3] * width),
                          .max_y = static_cast<int64_t>(values[i + 2] * height)});
  }
  return rectangles;
}

}  // namespace

absl::StatusOr<DistortedBoundingBox> StatelessSampleDistortedBoundingBox(
    const Shape& image_size, const Array& bounding_boxes, const Seed& seed,
    const SampleDistortedBoundingBoxOptions& options) {
  EST_RETURN_IF_ERROR(CheckOptions(options));
  EST_RETURN_IF_ERROR(CheckImageSize(image_size));
  EST_ASSIGN_OR_RETURN(std::vector<Rectangle> boxes, BoxesInPixels(image_size, bounding_boxes));
  const int64_t height = image_size.dim(0), width = image_size.dim(1);
  const Rectangle image = {.min_x = 0, .min_y = 0, .max_x = width, .max_y = height};
  if (boxes.empty()) {
    if (!options.use_image_if_no_bounding_boxes) {
      return Invalid(absl::StrCat(
          "no bounding boxes provided as input, bounding_boxes is ", bounding_boxes.TypeString(),
          "; set use_image_if_no_bounding_boxes to use a box of the whole image"));
    }
    boxes.push_back(image);
  }

  Rectangle window = image;
  Numbers numbers(StatelessPhilox(seed));
  const auto& [ratio_low, ratio_high] = options.aspect_ratio_range;
  for (int i = 0; i < options.max_attempts; ++i) {
    const float aspect_ratio = numbers.Float() * (ratio_high - ratio_low) + ratio_low;
    const std::optional<Rectangle> candidate =
        RandomWindow(width, height, options.area_range, aspect_ratio, numbers);
    if (candidate.has_value() && CoversABox(*candidate, boxes, options.min_object_covered)) {
      window = *candidate;
      break;
    }
  }

  const auto height_f = static_cast<float>(height), width_f = static_cast<float>(width);
  return DistortedBoundingBox{
      .begin = {window.min_y, window.min_x, 0},
      .size = {window.max_y - window.min_y, window.max_x - window.min_x, -1},
      .bboxes = Array::Of<float>({1, 1, 4}, {static_cast<float>(window.min_y) / height_f,
                                             static_cast<float>(window.min_x) / width_f,
                                             static_cast<float>(window.max_y) / height_f,
                                             static_cast<float>(window.max_x) / width_f})};
}

}  // namespace estimator::image
