// TensorBundle, TensorFlow's checkpoint format (version 1): its file names and the keys of its
// index.
//
// A checkpoint `model.ckpt-50` (its prefix) consists of these files, all little-endian:
//   model.ckpt-50.data-00000-of-00001   the bytes of the tensors, one after another, row-major.
//                                       There may be several data shards. string_tensor.h has the
//                                       layout of strings.
//   model.ckpt-50.index                 a sorted table in leveldb's format, from key to message:
//
//     key         message             contents
//     ""          BundleHeaderProto   number of shards, endianness, version
//     name        BundleEntryProto    dtype, shape, shard, offset, size, masked crc32c of the bytes
//     slice key   BundleEntryProto    the same, for one slice of a partitioned tensor; the entry
//                                     of the tensor has the full shape and lists the slices
//
// This framework adds model.ckpt-50.input, the state of the input iterators.
//
// A slice key begins with a zero byte, and no name does:
//
//   key     =  Num(0) String(name) Num(rank) axis*      one axis for each dimension
//   axis    =  Signed(start) Signed(length)             start 0 and length -1: the whole axis
//   Num     =  a length byte, then that number of big-endian bytes
//   String  =  the bytes, with 00 written as 00 ff and ff written as ff 00; then 00 01
//   Signed  =  a prefix code that sorts as the numbers do
//
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
// "<prefix>.meta". For a V1 checkpoint in several files, "model.ckpt-1-?????-of-00002", it is
// "model.ckpt-1.meta". Source: TF 2.15 meta_graph_filename.
std::string MetaGraphPath(absl::string_view prefix);

// The step of "dir/model.ckpt-50" is 50; -1 if the prefix does not end in "-<digits>".
int64_t StepOfPrefix(absl::string_view prefix);

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

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_
