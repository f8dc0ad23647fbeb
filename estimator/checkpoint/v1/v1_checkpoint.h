// Reads V1 checkpoints, TensorFlow's format before TensorBundle. tf.train.Saver wrote it until
// TensorFlow 0.12, and later with write_version=SaverDef.V1. The slim checkpoints
// resnet_v1_50.ckpt and inception_v3.ckpt have this format.
//
// A checkpoint `model.ckpt-50` is one file of that name, or the files of a sharded saver:
// model.ckpt-50-00000-of-00002 and so on. The state file names those as
// model.ckpt-50-?????-of-00002. Each file is a table in leveldb's format (table_file.h), never
// compressed, from key to SavedTensorSlices (saved_tensor_slice.proto):
//
//     key         field   contents
//     ""          meta    the tensors with dtype and whole shape, and their slices in this file
//     slice key   data    the values of a slice (saved_slice.h)
//
// bundle_format.h has the slice keys. A tensor that is not partitioned is one slice of whole axes.
// A slice is never split over blocks, so a block can have any size. A crc32c follows each block.
// Source: TF 2.15 tensorflow/core/util/tensor_slice_writer.cc, tensor_slice_reader.cc.
#ifndef ESTIMATOR_CHECKPOINT_V1_V1_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_V1_V1_CHECKPOINT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/value_source.h"

namespace estimator {

// The files of the V1 checkpoint with that prefix, sorted, including missing ones. Empty if there
// is no V1 checkpoint.
// Errors: FAILED_PRECONDITION if there are files of two checkpoints with different numbers of
// shards.
absl::StatusOr<std::vector<std::string>> V1Files(absl::string_view prefix);

// The prefix of the V1 checkpoint to which a file belongs, from the file's name; nullopt if it is
// not a file of one. The prefix must end in a step: "-<digits>". It must also end in
// ".ckpt-<step>", or the file must be a table. Otherwise event files would match if the host's name
// ends in "-<digits>".
std::optional<std::string> V1PrefixOfFile(absl::string_view path);

struct V1Checkpoint {
  BundleIndex index;  // a shard is a file; an offset is that of a SavedTensorSlices message in it
  std::unique_ptr<ValueSource> values;
};

// Reads and checks the index. It reads only the first block of each file, which has the names, and
// no other values.
// Errors: DATA_LOSS with the file, the variable and the offset; UNIMPLEMENTED for a version that is
// newer than V1; INVALID_ARGUMENT if the only file is clearly not a V1 checkpoint.
absl::StatusOr<V1Checkpoint> OpenV1Checkpoint(const std::vector<std::string>& files);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_V1_CHECKPOINT_H_
