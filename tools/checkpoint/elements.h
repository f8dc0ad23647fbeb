// Numbers as a checkpoint stores them, of every dtype that TensorFlow has.
#ifndef TOOLS_CHECKPOINT_ELEMENTS_H_
#define TOOLS_CHECKPOINT_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

// Holds every int64, uint64 and double exactly.
using Number = long double;

// How many numbers an element is: 2 for complex ones, 1 for other numbers, 0 for strings, variants
// and resources.
int NumbersPerElement(int dtype_on_disk);

// Whether its numbers have a fraction: they can be averaged.
bool IsFloatingOnDisk(int dtype_on_disk);

// The numbers of whole elements. REQUIRES: NumbersPerElement > 0.
void DecodeElements(int dtype_on_disk, absl::string_view bytes, std::vector<Number>* numbers);

// The reverse, rounded to the nearest, for what IsFloatingOnDisk, less float8.
void EncodeElements(int dtype_on_disk, const std::vector<Number>& numbers, std::string* bytes);
bool CanEncode(int dtype_on_disk);

// "0.25", "-3", "(1+2j)". `at`: an element's first number.
std::string ElementText(int dtype_on_disk, const Number* at);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_ELEMENTS_H_
