// Reads the tables of testdata/images that generate_geometry.py writes. Its head has their formats.
#ifndef ESTIMATOR_IMAGE_TESTING_GOLDEN_LINES_H_
#define ESTIMATOR_IMAGE_TESTING_GOLDEN_LINES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image::testing {

// One call and its result.
struct GoldenLine {
  std::vector<std::string> arguments;  // the words before "=" or "!"
  std::vector<std::string> results;    // the words after "="
  std::string error;                   // what is after "!"; empty if the call succeeds
  std::string text;
};

// The lines of testdata/images/`name`. CHECKs that the file has at least one.
std::vector<GoldenLine> ReadGoldenLines(StringArg name);

// Numbers that are joined by commas. "-" is an empty list. CHECKs that they are numbers.
std::vector<int64_t> ParseInts(StringArg text);
std::vector<double> ParseDoubles(StringArg text);
// Floats that are written as their bits in hexadecimal.
std::vector<float> ParseFloatBits(StringArg text);
std::array<int64_t, 2> ParseSeed(StringArg text);

// The input of every call: element i is (i * 37 + 11) % 101; for bool, whether that is odd.
Array GoldenInput(DType dtype, const Shape& shape);

}  // namespace estimator::image::testing

#endif  // ESTIMATOR_IMAGE_TESTING_GOLDEN_LINES_H_
