// Runs a model from a reference's first variables over its batches, and says where the numbers
// part, or how near they stay.
//
//   absl::StatusOr<ReplayReport> report = replay::Replay(ModelFn, "testdata/my_model");
//   std::cout << report->ToString();
#ifndef TOOLS_REPLAY_REPLAY_H_
#define TOOLS_REPLAY_REPLAY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/runtime/program.h"
#include "tools/replay/model.h"
#include "tools/replay/report.h"

namespace estimator::replay {

struct ReplayOptions {
  // Steps to run. None: all that the reference has.
  std::optional<int64_t> num_steps = std::nullopt;
  // In place of the reference's own tolerances.
  std::optional<double> rtol = std::nullopt;
  std::optional<double> variable_rtol = std::nullopt;
  std::optional<double> atol = std::nullopt;
  // More than 1: on so many in-process shards, each batch split evenly over them on axis 0.
  // The reference saw the batch whole; losses that are means over examples agree all the same,
  // batch norm in training does not.
  int num_shards = 1;
  CompileOptions compile_options = {};
};

// Variables start from the initial checkpoint; those that it lacks and that are not trainable, from
// their initializers. Then, with the backend of the training loop:
//   1. the forward tensors and gradients of step 1, in a program that changes nothing;
//   2. each step: its loss (or predictions), then every variable after step 1, the norms of all
//      after each step, and every variable after the last one.
// Random ops with seeds of their own draw TensorFlow's numbers, if the reference says its
// random_seed; turn dropout and other randomness off where it does not.
// Errors: as Reference::Load; those of the model_fn; those of RunFirstStep; INVALID_ARGUMENT for
// options that do not fit, or if there was nothing that both sides have to compare; NOT_FOUND or
// INVALID_ARGUMENT with one table of all variables that only one side has, or has otherwise. A
// number that differs, NaN included, is no error: the report says so.
absl::StatusOr<ReplayReport> Replay(const Model& model, absl::string_view folder,
                                    const ReplayOptions& options = {});

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_REPLAY_H_
