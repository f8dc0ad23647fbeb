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
// Keys: see table_key.h.
// Source: TF 2.15 tensorflow/core/util/tensor_bundle.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/table/table_key.h"

namespace estimator {

// On disk: do not change.
inline constexpr int kBundleVersion = 1;

// "<prefix>.index"
std::string IndexPath(absl::string_view prefix);
// "<prefix>.data-00000-of-00001"
std::string DataPath(absl::string_view prefix, int shard, int num_shards);
// The names of the files in the prefix's directory, sorted; and those of them that are its data
// files. Errors: those of the file system.
absl::StatusOr<std::vector<std::string>> FilesBeside(absl::string_view prefix);
absl::StatusOr<std::vector<std::string>> DataFilesOf(absl::string_view prefix);

// "<prefix>.input"
std::string InputStatePath(absl::string_view prefix);
// "<prefix>.meta". For a V1 checkpoint in several files, "model.ckpt-1-?????-of-00002", it is
// "model.ckpt-1.meta". Source: TF 2.15 meta_graph_filename.
std::string MetaGraphPath(absl::string_view prefix);

// The step of "dir/model.ckpt-50" is 50; -1 if the prefix does not end in "-<digits>".
int64_t StepOfPrefix(absl::string_view prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_FORMAT_H_
