// RunConfig: how a run goes, apart from its model. Fields and defaults are TensorFlow's.
#ifndef ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_
#define ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace estimator {

// A plain value; Validate is called by the Estimator. std::nullopt is Python's None.
struct RunConfig {
  // Where checkpoints and event files go. None: a temporary folder, with a warning.
  std::optional<std::string> model_dir;
  // Seed of every random op and shuffle that names none. None: a fixed default, so a run repeats.
  std::optional<int64_t> tf_random_seed;
  // Steps between summaries; 0 or None: none.
  std::optional<int64_t> save_summary_steps = 100;
  // Steps or seconds between checkpoints; not both. Neither given: every 600 seconds.
  std::optional<int64_t> save_checkpoints_steps;
  std::optional<int64_t> save_checkpoints_secs;
  bool disable_checkpoints = false;  // both None in TensorFlow
  // How many to keep; 0 or None: all.
  std::optional<int64_t> keep_checkpoint_max = 5;
  // One checkpoint every so many hours is never deleted.
  double keep_checkpoint_every_n_hours = 10000;
  // Steps between log lines; None: none.
  std::optional<int64_t> log_step_count_steps = 100;
  // Whether to write graph.pbtxt, and beside each checkpoint its MetaGraphDef (model.ckpt-N.meta),
  // as Saver.save's write_meta_graph. A graph with more than 256 MiB of constants gets none.
  bool checkpoint_save_graph_def = true;
  // Ours, not TensorFlow's: after each op of a step the plain reference kernel runs too, and the
  // first op that differs ends the run with an error that names it. Tens of times slower: to find
  // the op that goes wrong on a new machine, not to train.
  bool check_kernels = false;

  // Errors: INVALID_ARGUMENT listing every field that is out of range.
  absl::Status Validate() const;
  // A cadence of 0 switches checkpoints off, as in TensorFlow.
  bool SavesCheckpoints() const {
    return !disable_checkpoints && save_checkpoints_steps != 0 && save_checkpoints_secs != 0;
  }
  // Seconds between checkpoints when neither field is set.
  static constexpr int64_t kDefaultSaveCheckpointsSecs = 600;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_
