// The keys of a checkpoint's table: a variable's name, or the key of one slice of it.
//
// A slice key begins with a zero byte, which no name does:
//   Num(0) String(name) Num(rank) { Signed(start) Signed(length) } for each axis
//   Num:     a length byte and that many big-endian bytes
//   String:  escapes 00 as 00 ff and ff as ff 00, and ends in 00 01
//   Signed:  a prefix code that sorts as the numbers do
// A whole axis has start 0 and length -1.
// Source: TF 2.15 tensorflow/core/util/saved_tensor_slice_util, lib/strings/ordered_code.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_
#define ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

// The part [start, start + length) of an axis; length kWholeAxis with start 0 is all of it.
struct SliceExtent {
  static constexpr int64_t kWholeAxis = -1;
  int64_t start = 0;
  int64_t length = kWholeAxis;
};

// The key of a slice: see above.
std::string SliceKey(absl::string_view name, const std::vector<SliceExtent>& extents);

// The variable that a key of the table belongs to: a slice's, or the key itself; "" is the
// header's. For messages: of bytes that are no key it gives what looks like a name.
std::string VariableOfKey(absl::string_view key);

// For messages: "3 variables, a, b, c"; of many the first few, and how many more.
std::string ListNames(const std::vector<std::string>& names);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_
