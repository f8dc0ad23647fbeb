#include "models/imagenet/drawn_pictures.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/data/pipeline/random_stream.h"
#include "estimator/image/jpeg.h"

namespace estimator::imagenet {
namespace {

constexpr float kPi = 3.14159265f;
constexpr int64_t kMinSide = 72, kMaxSide = 128;
constexpr float kSquareSide = 0.886f;  // half of it, in radii: a square as large as the disc

// In the order of the classes.
enum class Texture {
  kPlain,
  kStripes,
  kChecks,
  kDots,
  kRings,
  kGrid,
  kZigzag,
  kSpokes,
  kTriangles,
  kDashes
};

using Color = std::array<float, 3>;

Color RandomColor(RandomStream& random) {
  Color color;
  for (float& value : color) value = random.Uniform(0, 255);
  return color;
}

// Returns a color whose distance from every other one is at least 120, so that edges can be seen.
Color RandomColorAwayFrom(std::initializer_list<Color> others, RandomStream& random) {
  Color color = RandomColor(random);
  for (int attempt = 0; attempt < 50; ++attempt) {
    const bool is_far = std::all_of(others.begin(), others.end(), [&](const Color& other) {
      float square = 0;
      for (int c = 0; c < 3; ++c) square += (color[c] - other[c]) * (color[c] - other[c]);
      return square >= 120 * 120;
    });
    if (is_far) break;
    color = RandomColor(random);
  }
  return color;
}

// Whether the point (u, v), in radii from the center of the figure, has the second color.
bool IsSecondColor(Texture texture, float u, float v, float frequency, float phase) {
  const float s = std::sin(frequency * u + phase), t = std::sin(frequency * v + phase);
  switch (texture) {
    case Texture::kPlain:
      return false;
    case Texture::kStripes:
      return s > 0;
    case Texture::kChecks:
      return s * t > 0;
    case Texture::kDots:
      return s * s + t * t < 0.8f;
    case Texture::kRings:
      return std::sin(frequency * std::sqrt(u * u + v * v) + phase) > 0;
    case Texture::kGrid:
      return std::min(std::abs(s), std::abs(t)) < 0.35f;
    case Texture::kZigzag:
      return std::sin(frequency * u + 2 * std::asin(t)) > 0;
    case Texture::kSpokes:
      return std::sin(9 * std::atan2(v, u) + phase) > 0;
    case Texture::kTriangles: {
      constexpr float kHalf = 0.5f, kHeight = 0.8660254f;  // of a triangle with sides of 1
      const float p = std::sin(frequency * (kHeight * v - kHalf * u) + phase);
      const float q = std::sin(frequency * (kHeight * v + kHalf * u) - phase);
      return s * p * q > 0;
    }
    case Texture::kDashes:
      return s > 0.2f && std::sin(frequency * v / 2 + phase) > -0.4f;
  }
  return false;
}

}  // namespace

absl::string_view DrawnClassName(int64_t label) {
  static constexpr const char* kNames[kNumDrawnClasses] = {
      "plain", "striped", "checkered", "dotted",    "ringed",
      "grid",  "zigzag",  "spokes",    "triangles", "dashes"};
  CHECK(label >= 0 && label < kNumDrawnClasses) << label;
  return kNames[label];
}

DrawnPicture DrawPicture(uint64_t seed, uint64_t index) {
  RandomStream random(seed, index);
  DrawnPicture picture;
  picture.label = static_cast<int64_t>(index % kNumDrawnClasses);
  const auto texture = static_cast<Texture>(picture.label);
  const bool is_square = random.Bernoulli();

  const int64_t height = random.UniformInt(kMinSide, kMaxSide + 1);
  const int64_t width = random.UniformInt(kMinSide, kMaxSide + 1);
  const auto side = static_cast<float>(std::min(height, width));
  const float radius = side * random.Uniform(0.38f, 0.5f);
  const float center_y = static_cast<float>(height) / 2 + side * random.Uniform(-0.04f, 0.04f);
  const float center_x = static_cast<float>(width) / 2 + side * random.Uniform(-0.04f, 0.04f);
  const float angle = random.Uniform(0, 2 * kPi);
  const float frequency = random.Uniform(12, 20);
  const float phase = random.Uniform(0, 2 * kPi);
  const Color background[] = {RandomColor(random), RandomColor(random)};
  const Color first = RandomColorAwayFrom({background[0], background[1]}, random);
  const Color second = RandomColorAwayFrom({first, background[0], background[1]}, random);
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
      const bool is_inside =
          is_square ? std::max(std::abs(u), std::abs(v)) < kSquareSide : u * u + v * v < 1;
      const float mix = std::clamp(0.5f + 0.15f * (cos_tilt * dx + sin_tilt * dy), 0.f, 1.f);
      const bool is_second = is_inside && IsSecondColor(texture, u, v, frequency, phase);
      for (int c = 0; c < 3; ++c) {
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

}  // namespace estimator::imagenet
