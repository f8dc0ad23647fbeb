// TensorFlow's checkpoints before TensorBundle (V1: tf.train.Saver until TensorFlow 0.12, and
// write_version=SaverDef.V1 since; the slim checkpoints resnet_v1_50.ckpt, inception_v3.ckpt).
//
// A checkpoint `model.ckpt-50` is one file of that name, or the files of a sharded saver,
// model.ckpt-50-00000-of-00002 and so on, which its state file names as
// model.ckpt-50-?????-of-00002. Each is a table in leveldb's format (table_file.h), never
// compressed, from key to SavedTensorSlices (saved_tensor_slice.proto):
//     ""          -> meta: the tensors with dtype and whole shape, and their slices in this file
//     slice key   -> data: the values of a slice (saved_slice.h). Keys are bundle_format.h's; a
//                    tensor that is not partitioned is one slice of whole axes
// A block is checked by a crc32c behind it, of any size: a slice is never divided.
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

// The files that a prefix means, sorted, those that are missing too; empty if it means none.
// Errors: FAILED_PRECONDITION if there are files of two savers, of different numbers of shards.
absl::StatusOr<std::vector<std::string>> V1Files(absl::string_view prefix);

// The prefix of the checkpoint that a file of this name is of, or one of its shards is; nullopt if
// it can be of none. A prefix ends in a step, and either in ".ckpt-<step>" or its file is a table:
// event files are named "...-<digits>" too, where a host's name ends so.
std::optional<std::string> V1PrefixOfFile(absl::string_view path);

struct V1Checkpoint {
  BundleIndex index;  // a shard is a file; offsets are those of SavedTensorSlices messages in it
  std::unique_ptr<ValueSource> values;
};

// Reads what is stored where; of the values only those in the first block, which has the names.
// Errors: DATA_LOSS naming the file, the variable and the offset; UNIMPLEMENTED for a version that
// is newer than V1.
absl::StatusOr<V1Checkpoint> OpenV1Checkpoint(const std::vector<std::string>& files);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_V1_CHECKPOINT_H_
