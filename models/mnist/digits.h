// Draws handwritten-like digits: a data set with MNIST's shapes where there is none at hand.
//
// A digit is one of a few pen strokes (digit_strokes), with shaking control points, under an
// affine map (size, slant, rotation, place) and a smooth elastic one, drawn by a pen of varying
// width, with blur, uneven ink, now and then a gap or a stray mark, and pixel noise.
#ifndef MODELS_MNIST_DIGITS_H_
#define MODELS_MNIST_DIGITS_H_

#include <cstdint>

#include "estimator/array/array.h"

namespace estimator::mnist {

inline constexpr int kImageSide = 28;
inline constexpr int kImagePixels = kImageSide * kImageSide;
inline constexpr int kNumClasses = 10;

struct DigitSet {
  Array images;  // u8 [N, 28, 28]; 0 is paper, 255 ink
  Array labels;  // i32 [N], in [0, 10)
};

// Draws example `index` of the endless set `seed` into pixels[784] and returns its label. A pure
// function of (seed, index). About 20 us.
int DrawDigit(uint64_t seed, uint64_t index, uint8_t* pixels);

// Examples [begin, begin + count), drawn by all threads of OpenMP; the result does not depend on
// how many there are. Different ranges give a training and a test set that share no image.
// REQUIRES: count >= 0.
DigitSet DrawDigits(uint64_t seed, uint64_t begin, int64_t count);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_DIGITS_H_
