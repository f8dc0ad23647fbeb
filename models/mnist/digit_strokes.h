// The ten digits as pen strokes, in a few handwriting styles each.
#ifndef MODELS_MNIST_DIGIT_STROKES_H_
#define MODELS_MNIST_DIGIT_STROKES_H_

#include <vector>

namespace estimator::mnist {

// Coordinates are in a box of height about 1, with x to the right and y down.
struct Point {
  float x = 0;
  float y = 0;
};

// The path of the pen: a smooth curve through the points in order. A repeated point is a corner.
using Stroke = std::vector<Point>;

// One way to write a digit.
using Glyph = std::vector<Stroke>;

// Returns the styles of a digit. REQUIRES: 0 <= digit <= 9.
const std::vector<Glyph>& GlyphsOf(int digit);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_DIGIT_STROKES_H_
