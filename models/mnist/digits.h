// Draws digits that look handwritten: a data set with MNIST's shapes that needs no download.
//
// A digit is drawn from one of a few styles of pen strokes (digit_strokes.h):
//   1. Its control points are moved at random.
//   2. A smooth elastic map and an affine map (size, slant, rotation, place) are applied.
//   3. A pen of random width draws it, with blur, uneven ink, and sometimes a gap or a stray mark.
//   4. Pixel noise is added.
#ifndef MODELS_MNIST_DIGITS_H_
#define MODELS_MNIST_DIGITS_H_

#include <cstdint>
#include <string>

#include "estimator/array/array.h"

namespace estimator::mnist {

inline constexpr int kImageSide = 28;
inline constexpr int kImagePixels = kImageSide * kImageSide;
inline constexpr int kNumClasses = 10;

struct DigitSet {
  Array images;  // u8 [N, 28, 28]; 0 is paper, 255 ink
  Array labels;  // i32 [N], in [0, 10)
  // Where the images come from: "MNIST" or "drawn digits". A run does not continue with images from
  // elsewhere (Dataset::FromTensorSlices).
  std::string name = "";
};

// Draws example `index` of the infinite set `seed` into pixels[784], and returns its label. The
// result depends on (seed, index) only. It takes about 20 us.
int DrawDigit(uint64_t seed, uint64_t index, uint8_t* pixels);

// Returns examples [begin, begin + count). All OpenMP threads draw; the result does not depend on
// their number. Use disjoint ranges for a training set and a test set.
// REQUIRES: count >= 0.
DigitSet DrawDigits(uint64_t seed, uint64_t begin, int64_t count);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_DIGITS_H_
