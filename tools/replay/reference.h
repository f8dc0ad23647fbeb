// Reference: a reference run on disk: where a model began, what it was fed, and what came out of
// it. testdata/reference/README.md describes the folder, reference.proto its manifest.
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

// What a number may differ by: atol + rtol * (its magnitude + the root mean square of its tensor).
// A scalar: atol + rtol * its magnitude.
struct Tolerances {
  double rtol = 1e-5;           // loss, forward tensors, predictions
  double variable_rtol = 1e-4;  // gradients, variables, slots, norms
  double atol = 0;              // on top of each
};

// Unchanged once it is loaded; expected values are read when they are asked for.
class Reference {
 public:
  // Reads the manifest and the batches, and opens the checkpoints that it names.
  // Errors: NOT_FOUND if the folder, its manifest or a checkpoint is not there; INVALID_ARGUMENT,
  // with the path, for a manifest that cannot be read, says nothing of the steps, the initial
  // checkpoint, the batches or what is expected; or for batches that do not fit together;
  // DATA_LOSS for a damaged file.
  static absl::StatusOr<Reference> Load(absl::string_view folder);

  const std::string& folder() const { return folder_; }
  const std::string& description() const { return description_; }
  const std::string& made_by() const { return made_by_; }  // "TensorFlow 2.15.1"
  Mode mode() const { return mode_; }
  int num_steps() const { return num_steps_; }
  std::optional<int64_t> random_seed() const { return random_seed_; }
  const Tolerances& tolerances() const { return tolerances_; }

  const BundleReader& initial() const { return *initial_; }
  // The batch of step `step`, which counts from 0. They come round again.
  Element Batch(int64_t step) const;

  // What is expected below a prefix: {"dense/kernel", ...} of Names("gradient/"). Sorted.
  std::vector<std::string> Names(absl::string_view prefix) const;
  bool Has(absl::string_view name) const;
  // Errors: NOT_FOUND naming the nearest; DATA_LOSS.
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
