// Reads checkpoints without a graph, as tf.train's load_checkpoint, list_variables and
// load_variable do.
#ifndef ESTIMATOR_CHECKPOINT_LOAD_H_
#define ESTIMATOR_CHECKPOINT_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// In all functions directory_or_prefix is one of:
//   - a model directory, for its latest checkpoint
//   - the directory of a SavedModel, for its variables
//   - the prefix of a checkpoint, or the name of its .index file
// Errors of all: NOT_FOUND if there is no checkpoint; as BundleReader::Open.

// The prefix of the checkpoint. If directory_or_prefix is not a directory, the checkpoint need not
// exist.
absl::StatusOr<std::string> CheckpointPrefix(StringArg directory_or_prefix);

absl::StatusOr<std::unique_ptr<BundleReader>> LoadCheckpoint(StringArg directory_or_prefix);

// Sorted by name.
StatusOrRange<std::vector<std::pair<std::string, TensorSpec>>> ListVariables(
    StringArg directory_or_prefix);

absl::StatusOr<Array> LoadVariable(StringArg directory_or_prefix, StringArg name);

// The value of global_step; 0 if the directory has no checkpoint. The step of the checkpoint's name
// if it has no such integer.
absl::StatusOr<int64_t> LoadGlobalStep(StringArg directory_or_prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_LOAD_H_
