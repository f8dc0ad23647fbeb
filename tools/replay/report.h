// ReplayReport: the result of a replay.
#ifndef TOOLS_REPLAY_REPORT_H_
#define TOOLS_REPLAY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace estimator::replay {

// How many names a note or an error lists. A large model has thousands.
inline constexpr size_t kNamesInReport = 8;

// The kinds of compared values, in the order in which a step computes them.
enum class Stage { kForward, kPrediction, kLoss, kGradient, kVariable, kNorm };

// Returns "forward tensor", "prediction", "loss", "gradient", "variable" or "norm of variable".
const char* StageName(Stage stage);

// A value that was compared with the reference.
struct Comparison {
  int64_t step = 1;  // counts from 1
  Stage stage = Stage::kLoss;
  std::string name = {};    // name of the tensor or variable; "" for the loss
  double max_absolute = 0;  // the largest difference of an element
  double of_tolerance = 0;  // the largest difference / tolerance; at most 1 for a match
  std::string report = {};  // of a mismatch: its place and both values, ours first
};

// The losses of one step. A loss that is not finite ends a replay.
struct LossOfStep {
  double actual = 0;
  double expected = 0;
  double of_tolerance = 0;  // |actual - expected| / tolerance
};

struct ReplayReport {
  std::string reference = {};  // folder of the reference
  std::string made_by = {};    // "TensorFlow 2.15.1"
  std::string backend = {};    // "CPU", "2 in-process replicas"
  int64_t num_steps = 0;       // number of steps that ran
  // The first difference in the order of steps and stages. Forward tensors are in the order of the
  // model's ops, and gradients in the order of computation (the last layer's first).
  std::optional<Comparison> first_difference = std::nullopt;
  // All further differences, in the same order.
  std::vector<Comparison> more_differences = {};
  std::vector<Comparison> matches = {};
  size_t num_matches_before = 0;        // matches that come before first_difference
  std::vector<LossOfStep> losses = {};  // of the steps that ran; empty without expected losses
  std::vector<std::string> notes = {};  // values that could not be compared
  std::string op_table = {};            // with ReplayOptions.profile: as of OpTable

  bool ok() const { return !first_difference.has_value(); }
  // Returns the report as text. For a match: the number of compared values, and a table of the
  // largest differences, with one row for each name. Else: the first difference, the others of its
  // stage, a table of the other names that differ, each in its first such step, and the number of
  // values that matched before.
  std::string ToString() const;
  // Returns a table with the losses of all steps, ours first.
  std::string LossTable() const;
};

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_REPORT_H_
