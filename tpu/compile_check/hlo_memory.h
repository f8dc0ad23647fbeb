// The memory that a compiled program needs, from XLA's scheduled HLO text.
//
// A value lives from the instruction that makes it to the last one that reads it. Tiles are padded
// as in the layout that the compiler chose. Of a conditional, the branch that needs most counts.
// What the compiler reuses in place beyond that (an element-wise fusion over its own operand) is
// not seen, so temporaries are an upper estimate.
#ifndef TPU_COMPILE_CHECK_HLO_MEMORY_H_
#define TPU_COMPILE_CHECK_HLO_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

struct LargeTensor {
  std::string op;     // the user's op, from the location; empty if the compiler made the value
  std::string shape;  // "f32[1024,28,28,32]"
  int64_t bytes = 0;
};

struct HloMemory {
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t temporaries = 0;                // at the moment of the peak
  std::vector<LargeTensor> largest = {};  // of the temporaries at the peak, the largest first
};

// `hlo` is the text of a scheduled module ("is_scheduled=true"). A text of another form gives
// zeros.
HloMemory MemoryOfHlo(StringArg hlo, size_t num_largest = 10);

// The bytes of shapes in HLO's text form, padded to tiles: "f32[6,100]{1,0:T(8,128)}" is 4096. A
// tuple is the sum. Values in the chip's own memory ("S(1)") count 0.
int64_t HloBytes(absl::string_view shape);

// The largest values of a StableHLO text by the names of their locations, and the largest arguments
// of its @main; the largest first. For a program that does not compile. Without padding.
std::vector<LargeTensor> LargestInStableHlo(StringArg text, size_t num_largest = 10);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_HLO_MEMORY_H_
