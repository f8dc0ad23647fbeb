#include "models/imagenet/drawn_pictures.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/pipeline/random_stream.h"
#include "estimator/image/jpeg/jpeg.h"

namespace estimator::imagenet {
namespace {

constexpr float kPi = 3.14159265f;
constexpr int64_t kMinSide = 72, kMaxSide = 128;

using Color = std::array<float, 3>;

// Returns the color of a hue in degrees, with saturation and value in [0, 1].
Color FromHsv(float hue, float saturation, float value) {
  Color color;
  for (int c = 0; c < 3; ++c) {
    // The distance of the hue from that of red, green or blue, in sixths of the circle.
    const float turn = std::fmod(hue - 120 * static_cast<float>(c) + 720, 360.f) / 60;
    const float distance = std::min(turn, 6 - turn);
    const float share = std::clamp(2 - distance, 0.f, 1.f);
    color[static_cast<size_t>(c)] = 255 * value * (1 - saturation * (1 - share));
  }
  return color;
}

// The hues of two classes are 36 degrees apart, so these shades of them do not overlap.
constexpr float kHueStep = 36, kHueNoise = 10;

// Returns a bright shade of the hue of a class.
Color BrightShade(int64_t label, RandomStream& random) {
  const float hue = kHueStep * static_cast<float>(label) + random.Uniform(-kHueNoise, kHueNoise);
  const float saturation = random.Uniform(0.65f, 1);
  return FromHsv(hue, saturation, random.Uniform(0.65f, 1));
}
Color DarkShade(int64_t label, RandomStream& random) {
  const float hue = kHueStep * static_cast<float>(label) + random.Uniform(-kHueNoise, kHueNoise);
  const float saturation = random.Uniform(0.5f, 0.9f);
  return FromHsv(hue, saturation, random.Uniform(0.2f, 0.45f));
}

// Whether the point (u, v), in radii from the center, is within a regular polygon with a corner at
// (1, 0).
bool IsInPolygon(float u, float v, int num_corners) {
  const float part = 2 * kPi / static_cast<float>(num_corners);
  const float angle = std::atan2(v, u);
  const float from_side = angle - part * (std::floor(angle / part) + 0.5f);
  return std::sqrt(u * u + v * v) * std::cos(from_side) < std::cos(part / 2);
}

// A point of the figure, and the waves of its texture there.
struct Place {
  float u, v;  // in radii from the center
  float frequency, phase;
  float s = std::sin(frequency * u + phase), t = std::sin(frequency * v + phase);
};

bool IsSpotOfTriangles(const Place& at) {
  constexpr float kHalf = 0.5f, kHeight = 0.8660254f;  // of a triangle with sides of 1
  const float p = std::sin(at.frequency * (kHeight * at.v - kHalf * at.u) + at.phase);
  const float q = std::sin(at.frequency * (kHeight * at.v + kHalf * at.u) - at.phase);
  return at.s * p * q > 0;
}

struct DrawnClass {
  const char* name;
  // The outline: whether the point (u, v) is in the figure. It is `radius` away from the center.
  bool (*is_inside)(float u, float v, float radius);
  // The texture: whether a point of the figure has the second color.
  bool (*is_second_color)(const Place& at);
};

// By label.
constexpr DrawnClass kClasses[kNumDrawnClasses] = {
    {"plain", [](float, float, float radius) { return radius < 1; },
     [](const Place&) { return false; }},
    {"striped", [](float u, float v, float) { return IsInPolygon(u, v, 4); },
     [](const Place& at) { return at.s > 0; }},
    {"checkered", [](float u, float v, float) { return IsInPolygon(u, v, 3); },
     [](const Place& at) { return at.s * at.t > 0; }},
    {"dotted", [](float u, float v, float) { return IsInPolygon(u, v, 6); },
     [](const Place& at) { return at.s * at.s + at.t * at.t < 0.8f; }},
    {"ringed",
     [](float u, float v, float radius) {  // a star
       return radius < 0.75f + 0.25f * std::cos(5 * std::atan2(v, u));
     },
     [](const Place& at) {
       return std::sin(at.frequency * std::sqrt(at.u * at.u + at.v * at.v) + at.phase) > 0;
     }},
    {"grid", [](float u, float v, float) { return u * u + v * v / 0.36f < 1; },  // an ellipse
     [](const Place& at) { return std::min(std::abs(at.s), std::abs(at.t)) < 0.35f; }},
    {"zigzag",
     [](float u, float v, float) {  // a cross
       return std::max(std::abs(u), std::abs(v)) < 0.9f &&
              std::min(std::abs(u), std::abs(v)) < 0.4f;
     },
     [](const Place& at) { return std::sin(at.frequency * at.u + 2 * std::asin(at.t)) > 0; }},
    {"spokes",
     [](float u, float v, float radius) {  // a flower
       return radius < 0.85f + 0.15f * std::cos(8 * std::atan2(v, u));
     },
     [](const Place& at) { return std::sin(9 * std::atan2(at.v, at.u) + at.phase) > 0; }},
    {"triangles", [](float, float v, float radius) { return radius < 1 && v > -0.4f; },
     IsSpotOfTriangles},
    {"dashes", [](float u, float v, float) { return IsInPolygon(u, v, 5); },
     [](const Place& at) {
       return at.s > 0.2f && std::sin(at.frequency * at.v / 2 + at.phase) > -0.4f;
     }},
};

}  // namespace

absl::string_view DrawnClassName(int64_t label) {
  CHECK(label >= 0 && label < kNumDrawnClasses) << label;
  return kClasses[label].name;
}

DrawnPicture DrawPicture(uint64_t seed, uint64_t index) {
  RandomStream random(seed, index);
  DrawnPicture picture;
  picture.label = static_cast<int64_t>(index % kNumDrawnClasses);
  const DrawnClass& drawn = kClasses[picture.label];

  const int64_t height = random.UniformInt(kMinSide, kMaxSide + 1);
  const int64_t width = random.UniformInt(kMinSide, kMaxSide + 1);
  const auto side = static_cast<float>(std::min(height, width));
  const float radius = side * random.Uniform(0.38f, 0.5f);
  const float center_y = static_cast<float>(height) / 2 + side * random.Uniform(-0.04f, 0.04f);
  const float center_x = static_cast<float>(width) / 2 + side * random.Uniform(-0.04f, 0.04f);
  const float angle = random.Uniform(0, 2 * kPi);
  const float frequency = random.Uniform(12, 20);
  const float phase = random.Uniform(0, 2 * kPi);
  const Color background[] = {DarkShade(picture.label, random), DarkShade(picture.label, random)};
  const Color first = BrightShade(picture.label, random);
  const Color second = BrightShade(picture.label + 3, random);  // no two classes share a pair
  const float tilt = random.Uniform(0, 2 * kPi);  // the direction in which the background changes
  const float noise = random.Uniform(2, 10);

  picture.pixels = Array(DType::kUint8, Shape({height, width, 3}));
  auto* out = picture.pixels.data<uint8_t>();
  const float cos_angle = std::cos(angle), sin_angle = std::sin(angle);
  const float cos_tilt = std::cos(tilt), sin_tilt = std::sin(tilt);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const float dy = (static_cast<float>(y) - center_y) / radius;
      const float dx = (static_cast<float>(x) - center_x) / radius;
      const float u = cos_angle * dx + sin_angle * dy, v = cos_angle * dy - sin_angle * dx;
      const bool is_inside = drawn.is_inside(u, v, std::sqrt(u * u + v * v));
      const float mix = std::clamp(0.5f + 0.15f * (cos_tilt * dx + sin_tilt * dy), 0.f, 1.f);
      const bool is_second = is_inside && drawn.is_second_color({u, v, frequency, phase});
      for (size_t c = 0; c < 3; ++c) {
        const float ground = background[0][c] * (1 - mix) + background[1][c] * mix;
        const float value = is_second ? second[c] : is_inside ? first[c] : ground;
        const float noisy = value + noise * random.Uniform(-1, 1);
        *out++ = static_cast<uint8_t>(std::lround(std::clamp(noisy, 0.f, 255.f)));
      }
    }
  }
  return picture;
}

absl::StatusOr<std::string> DrawnExample(uint64_t seed, uint64_t index) {
  const DrawnPicture picture = DrawPicture(seed, index);
  EST_ASSIGN_OR_RETURN(std::string jpeg, image::EncodeJpeg(picture.pixels));
  return ExampleBuilder()
      .Bytes("image/encoded", {std::move(jpeg)})
      .Bytes("image/format", {"JPEG"})
      .Bytes("image/colorspace", {"RGB"})
      .Bytes("image/filename", {absl::StrCat("drawn_", index, ".JPEG")})
      .Bytes("image/class/text", {std::string(DrawnClassName(picture.label))})
      .Ints("image/class/label", {picture.label + 1})
      .Ints("image/channels", {3})
      .Ints("image/height", {picture.pixels.shape()[0]})
      .Ints("image/width", {picture.pixels.shape()[1]})
      .Serialize();
}

Dataset DrawnExamples(uint64_t seed, uint64_t begin, int64_t count) {
  return Dataset::FromGenerator(
      [seed, begin, count](int64_t i) -> absl::StatusOr<std::optional<Element>> {
        if (i >= count) return std::nullopt;
        EST_ASSIGN_OR_RETURN(const std::string example,
                             DrawnExample(seed, begin + static_cast<uint64_t>(i)));
        return Element{.features = Array::String(example), .labels = {}};
      },
      count);
}

Dataset DrawnMultiLabelExamples(uint64_t seed, int64_t begin, int64_t end,
                                std::vector<std::string> label_names) {
  const auto draw = [seed, label_names = std::move(label_names)](const Element& index) {
    const int64_t i = index.features.at("").scalar<int64_t>();
    const DrawnPicture picture = DrawPicture(seed, static_cast<uint64_t>(i));
    Element example{.features = {{"image", picture.pixels},
                                 {"image_name", Array::String(absl::StrCat("Drawn_", i))}},
                    .labels = {}};
    for (size_t k = 0; k < label_names.size(); ++k)
      example.labels[label_names[k]] = Array::Scalar<int64_t>(picture.label >> k & 1);
    return example;
  };
  return Dataset::Range(begin, end).Map(draw, {.num_parallel_calls = kAutotune});
}

}  // namespace estimator::imagenet
