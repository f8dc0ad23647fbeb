// Reference: a reference run on disk. It has a model's initial variables, its batches, and the
// expected results. testdata/reference/README.md describes the folder, and reference.proto
// describes its manifest.
#ifndef TOOLS_REPLAY_REFERENCE_H_
#define TOOLS_REPLAY_REFERENCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/training/estimator_spec.h"

namespace estimator::replay {

// The allowed difference of an element x of a tensor t, and of a scalar x:
//   tensor:  atol + rtol * (|x| + rms(t))
//   scalar:  atol + rtol * |x|
struct Tolerances {
  double rtol = 1e-5;           // loss, forward tensors, predictions
  double variable_rtol = 1e-4;  // gradients, variables, slots, norms
  double atol = 0;              // for all
};

// Immutable after Load. Expected values are read when Expected is called.
class Reference {
 public:
  // Reads the manifest and the batches, and opens the checkpoints that it names.
  // Errors: NOT_FOUND if the folder, its manifest or a checkpoint does not exist; INVALID_ARGUMENT
  // with the path if the manifest cannot be parsed, if it lacks a field (steps, initial checkpoint,
  // batches, expected), or if the batches have different numbers of rows; DATA_LOSS for a damaged
  // file.
  static absl::StatusOr<Reference> Load(absl::string_view folder);

  const std::string& folder() const { return folder_; }
  const std::string& description() const { return description_; }
  const std::string& made_by() const { return made_by_; }  // "TensorFlow 2.15.1"
  Mode mode() const { return mode_; }
  int num_steps() const { return num_steps_; }
  std::optional<int64_t> random_seed() const { return random_seed_; }
  const Tolerances& tolerances() const { return tolerances_; }

  const BundleReader& initial() const { return *initial_; }
  // Returns the batch of step `step`, which counts from 0. After the last batch the first one
  // follows.
  Element Batch(int64_t step) const;

  // Returns the sorted names of expected values below a prefix, without the prefix: for
  // "gradient/", {"dense/kernel", ...}.
  std::vector<std::string> Names(absl::string_view prefix) const;
  bool Has(absl::string_view name) const;
  // Returns an expected value. Errors: NOT_FOUND with the nearest name; DATA_LOSS.
  absl::StatusOr<Array> Expected(absl::string_view name) const;

 private:
  std::string folder_, description_, made_by_;
  Mode mode_ = Mode::kTrain;
  int num_steps_ = 0;
  std::optional<int64_t> random_seed_;
  Tolerances tolerances_;
  std::unique_ptr<BundleReader> initial_;
  std::map<std::string, Array> batches_;  // "features/image" -> [batches, batch size, ...]
  int64_t num_batches_ = 0;
  std::vector<std::unique_ptr<BundleReader>> expected_;
};

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_REFERENCE_H_
