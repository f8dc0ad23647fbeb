// The keys of a checkpoint's table: a variable's name, or the key of one slice of it.
//
// A slice key begins with a zero byte, and no name does:
//
//   key     =  Num(0) String(name) Num(rank) axis*      one axis for each dimension
//   axis    =  Signed(start) Signed(length)             start 0 and length -1: the whole axis
//   Num     =  a length byte, then that number of big-endian bytes
//   String  =  the bytes, with 00 written as 00 ff and ff written as ff 00; then 00 01
//   Signed  =  a prefix code that sorts as the numbers do
//
// Source: TF 2.15 tensorflow/core/util/saved_tensor_slice_util, lib/strings/ordered_code.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_
#define ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

// The part [start, start + length) of an axis. Start 0 with length kWholeAxis is the whole axis.
struct SliceExtent {
  static constexpr int64_t kWholeAxis = -1;
  int64_t start = 0;
  int64_t length = kWholeAxis;
};

// The key of a slice, as described above.
std::string SliceKey(absl::string_view name, const std::vector<SliceExtent>& extents);

// The variable that a key of the table belongs to, for messages. The key of a variable is its name.
// The header's key gives "". Bytes that are not a valid key give what looks like a name.
std::string VariableOfKey(absl::string_view key);

// "3 variables, a, b, c", for messages. Many names are cut to the first few and the number of the
// rest.
std::string ListNames(const std::vector<std::string>& names);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_TABLE_KEY_H_
