#include "models/mnist/digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "estimator/base/random.h"
#include "models/mnist/digit_strokes.h"

namespace estimator::mnist {
namespace {

constexpr float kPi = 3.14159265f;
// Lengths below are in pixels, or where noted in heights of a glyph's box.
constexpr float kBoxSide = 20;        // the longer side of a digit, as in MNIST
constexpr float kPointShake = .042f;  // standard deviation of a control point, heights
constexpr float kElastic = .042f;     // largest amplitude of each elastic wave, heights
constexpr int kNumWaves = 3;
constexpr float kMaxRotation = .3f;  // radians
constexpr float kMaxSlant = .45f;
constexpr float kMaxShift = 2;
constexpr int kPiecesPerSpan = 5;  // straight pieces between two control points

// The random numbers of one example. Their values depend on the order of the calls.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t index) : numbers_(Philox(seed, index)) {}

  uint32_t Bits() { return numbers_.Next(); }
  float Uniform(float low, float high) { return low + (high - low) * UniformFloat(Bits()); }
  bool Chance(float probability) { return UniformFloat(Bits()) < probability; }
  size_t Choose(size_t count) { return static_cast<size_t>((uint64_t{Bits()} * count) >> 32); }
  // Returns a roughly normal number of mean 0 and standard deviation 1, at most 3.5 in magnitude.
  // It is a sum of four random bytes, scaled.
  float Normal() {
    const uint32_t x = Bits();
    const uint32_t sum = (x & 255) + ((x >> 8) & 255) + ((x >> 16) & 255) + (x >> 24);
    return (static_cast<float>(sum) - 510.f) * (1.f / 147.8f);
  }

 private:
  PhiloxNumbers numbers_;
};

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(float s, Point a) { return {s * a.x, s * a.y}; }
bool operator==(Point a, Point b) { return a.x == b.x && a.y == b.y; }

// Returns a point of the Catmull-Rom spline from b (t = 0) to c (t = 1) with neighbours a and d.
Point Spline(Point a, Point b, Point c, Point d, float t) {
  const float t2 = t * t, t3 = t2 * t;
  return .5f * ((2 * b) + (t * (c - a)) + (t2 * (2 * a - 5 * b + 4 * c - d)) +
                (t3 * (3 * b - a - 3 * c + d)));
}

using Path = std::vector<Point>;

// Returns a stroke as straight pieces, with control points moved at random. Corners stay corners.
Path Trace(const Stroke& stroke, Dice& dice) {
  Stroke shaken = stroke;
  for (size_t i = 0; i < stroke.size(); ++i) {
    if (i > 0 && stroke[i] == stroke[i - 1]) {
      shaken[i] = shaken[i - 1];
    } else {
      shaken[i] = stroke[i] + kPointShake * Point{dice.Normal(), dice.Normal()};
    }
  }
  Path path = {shaken[0]};
  for (size_t i = 0; i + 1 < shaken.size(); ++i) {
    if (shaken[i] == shaken[i + 1]) continue;
    const Point before = shaken[i == 0 ? 0 : i - 1];
    const Point after = shaken[std::min(i + 2, shaken.size() - 1)];
    for (int piece = 1; piece <= kPiecesPerSpan; ++piece) {
      const float t = static_cast<float>(piece) / kPiecesPerSpan;
      path.push_back(Spline(before, shaken[i], shaken[i + 1], after, t));
    }
  }
  return path;
}

// Moves every point by a few long waves, so that neighbouring points move in a similar way.
void Bend(std::vector<Path>& paths, Dice& dice) {
  for (int wave = 0; wave < kNumWaves; ++wave) {
    const float angle = dice.Uniform(0, 2 * kPi), cycles = dice.Uniform(2.5f, 7);
    const float phase = dice.Uniform(0, 2 * kPi);
    const Point along = {cycles * std::cos(angle), cycles * std::sin(angle)};
    const Point by = {dice.Uniform(-kElastic, kElastic), dice.Uniform(-kElastic, kElastic)};
    for (Path& path : paths) {
      for (Point& p : path) p = p + std::sin(along.x * p.x + along.y * p.y + phase) * by;
    }
  }
}

// Applies a random rotation, slant and aspect ratio. Then scales the paths so that the longer side
// is about kBoxSide, and moves them near the middle of the image.
void Place(std::vector<Path>& paths, Dice& dice) {
  const float angle = kMaxRotation * std::clamp(.5f * dice.Normal(), -1.f, 1.f);
  const float slant = kMaxSlant * std::clamp(.5f * dice.Normal(), -1.f, 1.f);
  const float wide = dice.Uniform(.68f, 1.1f);
  const float c = std::cos(angle), s = std::sin(angle);
  Point low = {1e9f, 1e9f}, high = {-1e9f, -1e9f};
  for (Path& path : paths) {
    for (Point& p : path) {
      const Point q = {wide * (p.x - .5f) - slant * (p.y - .5f), p.y - .5f};
      p = {c * q.x - s * q.y, s * q.x + c * q.y};
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  const float side = std::max(high.x - low.x, high.y - low.y);
  const float scale = kBoxSide * dice.Uniform(.82f, 1.08f) / side;
  const Point middle = .5f * (low + high);
  const float half = .5f * kImageSide;
  const Point to = {half + dice.Uniform(-kMaxShift, kMaxShift),
                    half + dice.Uniform(-kMaxShift, kMaxShift)};
  for (Path& path : paths) {
    for (Point& p : path) p = to + scale * (p - middle);
  }
}

using Canvas = std::array<float, kImagePixels>;  // in [0, 1]: ink

struct Pen {
  float radius = 1;  // pixels
  float blur = 1;    // width of the edge, pixels
  float ink = 1;
};

// Draws the straight piece from a to b. A pixel gets at least the ink that follows from its
// distance to the piece: full up to `radius`, none from `radius + blur`, linear in between.
void DrawPiece(Point a, Point b, const Pen& pen, Canvas& canvas) {
  const float reach = pen.radius + pen.blur;
  const auto first = [reach](float x) {
    return std::max(0, static_cast<int>(std::ceil(x - reach)));
  };
  const auto last = [reach](float x) {
    return std::min(kImageSide - 1, static_cast<int>(std::floor(x + reach)));
  };
  const int x0 = first(std::min(a.x, b.x)), x1 = last(std::max(a.x, b.x));
  const int y0 = first(std::min(a.y, b.y)), y1 = last(std::max(a.y, b.y));
  const Point d = b - a;
  const float inverse = 1 / std::max(d.x * d.x + d.y * d.y, 1e-6f);
  const float slope = pen.ink / pen.blur;
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const Point p = {static_cast<float>(x) - a.x, static_cast<float>(y) - a.y};
      const float t = std::clamp((p.x * d.x + p.y * d.y) * inverse, 0.f, 1.f);
      const float ex = p.x - t * d.x, ey = p.y - t * d.y;
      const float ink = std::min(pen.ink, slope * (reach - std::sqrt(ex * ex + ey * ey)));
      float& pixel = canvas[static_cast<size_t>(y * kImageSide + x)];
      pixel = std::max(pixel, ink);
    }
  }
}

void DrawPaths(const std::vector<Path>& paths, Dice& dice, Canvas& canvas) {
  Pen pen = {.radius = dice.Uniform(.45f, 1.45f),
             .blur = dice.Uniform(.8f, 1.5f),
             .ink = dice.Uniform(.8f, 1.1f)};
  const float radius = pen.radius, pressure = dice.Uniform(0, .3f),
              phase = dice.Uniform(0, 2 * kPi);
  float length = 0;
  for (const Path& path : paths) {
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      pen.radius = radius * (1 + pressure * std::sin(phase + .35f * length));
      DrawPiece(path[i], path[i + 1], pen, canvas);
      length += 1;
    }
  }
}

// Sometimes removes a bit of a stroke, and sometimes adds a stray mark.
void Damage(const std::vector<Path>& paths, Dice& dice, Canvas& canvas) {
  if (dice.Chance(.15f)) {
    const Path& path = paths[dice.Choose(paths.size())];
    const Point at = path[dice.Choose(path.size())];
    const float radius = dice.Uniform(1, 2.4f);
    for (int y = 0; y < kImageSide; ++y) {
      for (int x = 0; x < kImageSide; ++x) {
        const float dx = static_cast<float>(x) - at.x, dy = static_cast<float>(y) - at.y;
        if (dx * dx + dy * dy < radius * radius) {
          canvas[static_cast<size_t>(y * kImageSide + x)] *= .25f;
        }
      }
    }
  }
  if (dice.Chance(.1f)) {
    const Point at = {dice.Uniform(3, 25), dice.Uniform(3, 25)};
    const Point to = at + Point{2.5f * dice.Normal(), 2.5f * dice.Normal()};
    DrawPiece(at, to, {.radius = .5f, .blur = 1, .ink = .9f}, canvas);
  }
}

// Converts ink to bytes. Adds noise, which is stronger on ink than on paper: most paper stays
// blank, as in MNIST.
void Develop(const Canvas& canvas, Dice& dice, uint8_t* pixels) {
  const float noise = dice.Chance(.3f) ? 255 * dice.Uniform(.02f, .12f) : 255 * .015f;
  for (size_t i = 0; i < kImagePixels; ++i) {
    const float ink = canvas[i];
    const float blank = ink < .02f ? .8f * noise : 0;
    const float value = 255 * ink + noise * (.35f + ink) * dice.Normal() - blank;
    pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.f, 255.f));
  }
}

}  // namespace

int DrawDigit(uint64_t seed, uint64_t index, uint8_t* pixels) {
  Dice dice(seed, index);
  const int label = static_cast<int>(dice.Choose(kNumClasses));
  const std::vector<Glyph>& glyphs = GlyphsOf(label);
  std::vector<Path> paths;
  for (const Stroke& stroke : glyphs[dice.Choose(glyphs.size())]) {
    paths.push_back(Trace(stroke, dice));
  }
  Bend(paths, dice);
  Place(paths, dice);
  Canvas canvas{};
  DrawPaths(paths, dice, canvas);
  Damage(paths, dice, canvas);
  Develop(canvas, dice, pixels);
  return label;
}

DigitSet DrawDigits(uint64_t seed, uint64_t begin, int64_t count) {
  DigitSet set = {.images = Array(DType::kUint8, Shape({count, kImageSide, kImageSide})),
                  .labels = Array(DType::kInt32, Shape({count})),
                  .name = "drawn digits"};
  uint8_t* const images = set.images.data<uint8_t>();
  int32_t* const labels = set.labels.data<int32_t>();
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    labels[i] = DrawDigit(seed, begin + static_cast<uint64_t>(i), images + i * kImagePixels);
  }
  return set;
}

}  // namespace estimator::mnist
