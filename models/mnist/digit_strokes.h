// How people write the ten digits: strokes as a pen makes them, a few styles a digit.
#ifndef MODELS_MNIST_DIGIT_STROKES_H_
#define MODELS_MNIST_DIGIT_STROKES_H_

#include <vector>

namespace estimator::mnist {

// In a box that is about 1 high: x to the right, y down.
struct Point {
  float x = 0;
  float y = 0;
};

// The pen's path: a smooth curve through the points, in order. A point given twice is a corner.
using Stroke = std::vector<Point>;

// One way to write a digit.
using Glyph = std::vector<Stroke>;

// The styles of a digit. REQUIRES: 0 <= digit <= 9.
const std::vector<Glyph>& GlyphsOf(int digit);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_DIGIT_STROKES_H_
