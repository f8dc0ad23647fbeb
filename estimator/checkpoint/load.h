// Looks into checkpoints without a graph: tf.train's load_checkpoint, list_variables,
// load_variable.
#ifndef ESTIMATOR_CHECKPOINT_LOAD_H_
#define ESTIMATOR_CHECKPOINT_LOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Everywhere below: a model directory, whose latest checkpoint is meant; a SavedModel's directory,
// whose variables are; or a checkpoint's prefix, for which the name of its .index file does as
// well. Errors: NOT_FOUND if there is no checkpoint; as BundleReader::Open.

// What is meant. It need not be there if it is no directory.
absl::StatusOr<std::string> CheckpointPrefix(absl::string_view directory_or_prefix);

absl::StatusOr<std::unique_ptr<BundleReader>> LoadCheckpoint(absl::string_view directory_or_prefix);

// Sorted by name.
absl::StatusOr<std::vector<std::pair<std::string, TensorSpec>>> ListVariables(
    absl::string_view directory_or_prefix);

absl::StatusOr<Array> LoadVariable(absl::string_view directory_or_prefix, absl::string_view name);

// The value of global_step; 0 if the directory has no checkpoint.
absl::StatusOr<int64_t> LoadGlobalStep(absl::string_view directory_or_prefix);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_LOAD_H_
