// Runs a model from a reference's initial variables on its batches, and compares the numbers. The
// report names the first difference and all later ones, or the largest differences within the
// tolerance.
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
  // The number of steps to run. None: all steps of the reference.
  std::optional<int64_t> num_steps = std::nullopt;
  // Tolerances. None: those of the reference.
  std::optional<double> rtol = std::nullopt;
  std::optional<double> variable_rtol = std::nullopt;
  std::optional<double> atol = std::nullopt;
  // The number of in-process replicas. If it is more than 1, each batch is split evenly on axis 0.
  // The reference was computed from whole batches: losses that are means over examples still agree,
  // but batch normalization in training does not.
  int num_shards = 1;
  CompileOptions compile_options = {};
  // Measures how long each op of the steps after the first takes: ReplayReport.op_table.
  bool profile = false;
};

// Variables start at their values in the initial checkpoint. Variables that are not in it and are
// not trainable start at their initializers. Replay uses the backend of the training loop, and
// compares:
//   1. the forward tensors and gradients of step 1, from a program that changes no variable;
//   2. for each step, its loss or predictions, and the norms of all variables after it;
//   3. every variable after step 1, and after the last step.
// It runs all steps, unless a loss is not finite. A forward tensor of another shape matches if it
// has the same values in the same order; else it is in the notes.
// If the reference has a random_seed, random ops with their own seeds draw TensorFlow's numbers. If
// not, turn off dropout and other randomness.
// Errors: as Reference::Load; those of the model_fn; as RunFirstStep; INVALID_ARGUMENT for options
// that are invalid for the reference, or if there is nothing to compare; NOT_FOUND or
// INVALID_ARGUMENT with one table of all variables that only one side has, or that differ in type.
// A difference of numbers, including NaN, is not an error: it is in the report.
absl::StatusOr<ReplayReport> Replay(const Model& model, absl::string_view folder,
                                    const ReplayOptions& options = {});

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_REPLAY_H_
