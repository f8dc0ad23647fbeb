// Decodes and encodes numbers as a checkpoint stores them, for every dtype of TensorFlow.
#ifndef TOOLS_CHECKPOINT_ELEMENTS_H_
#define TOOLS_CHECKPOINT_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

// Represents every int64, uint64 and double exactly.
using Number = long double;

// Programs that stream tensors decode this many at a time.
inline constexpr int64_t kElementsAtOnce = 64 << 10;

// Returns the number of numbers in an element: 2 for complex dtypes, 1 for other numbers, 0 for
// strings, variants and resources.
int NumbersPerElement(int dtype_on_disk);

// Whether the dtype's numbers have a fraction, so that they can be averaged.
bool IsFloatingOnDisk(int dtype_on_disk);

// Decodes the numbers of whole elements. REQUIRES: NumbersPerElement > 0.
void DecodeElements(int dtype_on_disk, absl::string_view bytes, std::vector<Number>* numbers);

// The reverse, rounded to the nearest. REQUIRES: CanEncode, which is IsFloatingOnDisk except
// float8.
void EncodeElements(int dtype_on_disk, const std::vector<Number>& numbers, std::string* bytes);
bool CanEncode(int dtype_on_disk);

// Returns an element as text: "0.25", "-3", "(1+2j)".
//   at: the first number of the element.
std::string ElementText(int dtype_on_disk, const Number* at);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_ELEMENTS_H_
