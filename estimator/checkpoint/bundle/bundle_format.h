// TensorBundle, TensorFlow's checkpoint format (version 1), as far as names and keys go.
//
// A checkpoint `model.ckpt-50` (its prefix) is these files, all little-endian:
//   model.ckpt-50.data-00000-of-00001   the bytes of the tensors, one after another, row-major;
//                                       any number of data shards, strings as in string_tensor.h
//   model.ckpt-50.index                 a sorted table (leveldb's) from key to message:
//     ""          -> BundleHeaderProto: number of shards, endianness, version
//     name        -> BundleEntryProto: dtype, shape, shard, offset, size, masked crc32c of the
//     bytes slice key   -> BundleEntryProto of one slice of a partitioned tensor; the entry under
//     the
//                    tensor's name then has the full shape and lists the slices
// Our own, beside them: model.ckpt-50.input, the state of the input iterators.
//
// A slice key begins with a zero byte, which no name does:
//   Num(0) String(name) Num(rank) { Signed(start) Signed(length) } for each axis
// where Num is a length byte and that many big-endian bytes; String escapes 00 as 00 ff and ff as
// ff 00 and ends in 00 01; Signed is a prefix code that sorts as the numbers do. A whole axis has
// start 0 and length -1.
// Source: TF 2.15 tensorflow/core/util/tensor_bundle, saved_tensor_slice_util,
// lib/strings/ordered_code.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// On disk: do not change.
inline constexpr int kBundleVersion = 1;

// "<prefix>.index"
std::string IndexPath(absl::string_view prefix);
// "<prefix>.data-00000-of-00001"
std::string DataPath(absl::string_view prefix, int shard, int num_shards);
// "<prefix>.input"
std::string InputStatePath(absl::string_view prefix);
// "<prefix>.meta"; of "model.ckpt-1-?????-of-00002", a V1 checkpoint in several files,
// "model.ckpt-1.meta". Source: TF 2.15 meta_graph_filename.
std::string MetaGraphPath(absl::string_view prefix);

// The step of "dir/model.ckpt-50" is 50; -1 if the prefix does not end in "-<digits>".
int64_t StepOfPrefix(absl::string_view prefix);

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

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_
