// ReplayReport: what a replay found.
#ifndef TOOLS_REPLAY_REPORT_H_
#define TOOLS_REPLAY_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace estimator::replay {

// In the order in which a step computes them.
enum class Stage { kForward, kPrediction, kLoss, kGradient, kVariable, kNorm };

// "forward tensor", "prediction", "loss", "gradient", "variable", "norm of variable"
const char* StageName(Stage stage);

// Something that was held against the reference.
struct Comparison {
  int64_t step = 1;  // counts from 1
  Stage stage = Stage::kLoss;
  std::string name = {};    // of the tensor or the variable; empty for the loss
  double max_absolute = 0;  // the largest difference of an element
  double of_tolerance = 0;  // the largest share of what it may differ by: up to 1 is a match
  std::string report = {};  // of a mismatch: where, and both values (first ours)
};

struct ReplayReport {
  std::string reference = {};  // its folder
  std::string made_by = {};    // "TensorFlow 2.15.1"
  std::string backend = {};    // "CPU", "2 in-process shards"
  int64_t num_steps = 0;       // that were run
  // The first in the order of steps and stages; forward tensors in the model's order, gradients in
  // the order in which they are computed (the last layer's first).
  std::optional<Comparison> first_difference = std::nullopt;
  // More of the same step and stage; what comes after is not looked at.
  std::vector<Comparison> more_differences = {};
  std::vector<Comparison> matches = {};
  std::vector<std::string> notes = {};  // what could not be compared

  bool ok() const { return !first_difference.has_value(); }
  // A match: how much was compared, and a table of the largest differences, one row for each
  // thing that has a name. Else the first difference, the others of its stage, and what matched
  // before.
  std::string ToString() const;
};

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_REPORT_H_
