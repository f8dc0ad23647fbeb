// RunConfig: the settings of a run that do not belong to its model. Fields and defaults are
// TensorFlow's.
#ifndef ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_
#define ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/distributed/process_group.h"
#include "estimator/runtime/compile_options.h"
#include "estimator/training/hooks/period.h"
#include "estimator/training/hooks/step_range.h"
#include "estimator/training/model/average_weights.h"

namespace estimator {

// The Estimator calls Validate. std::nullopt is Python's None.
struct RunConfig {
  // The folder for checkpoints and event files. nullopt: a temporary folder, with a warning.
  std::optional<std::string> model_dir;
  // The seed of every random op and shuffle without a seed of its own. nullopt: a fixed default, so
  // that two runs give the same result.
  std::optional<int64_t> tf_random_seed;
  // Steps between summaries. 0 or nullopt: no summaries.
  std::optional<int64_t> save_summary_steps = 100;
  // Steps or seconds between checkpoints. At most one may be given; if neither is, the cadence is
  // kDefaultSaveCheckpointsSecs.
  std::optional<int64_t> save_checkpoints_steps;
  std::optional<int64_t> save_checkpoints_secs;
  // True: no checkpoints are written. In TensorFlow, both fields above are None.
  bool disable_checkpoints = false;
  // The number of checkpoints to keep. 0 or nullopt: all.
  std::optional<int64_t> keep_checkpoint_max = 5;
  // Hours between checkpoints that are never deleted.
  double keep_checkpoint_every_n_hours = 10000;
  // Steps between log lines. nullopt: no log lines.
  std::optional<int64_t> log_step_count_steps = 100;
  // Not in TensorFlow. Each replaces the field or fields above for the same thing, in any unit:
  // Period::Epochs(1).
  std::optional<Period> save_checkpoints_every;
  std::optional<Period> save_summary_every;
  std::optional<Period> log_every;
  // Not in TensorFlow. The number of examples in an epoch, for periods and lengths in epochs, if
  // Dataset::ExamplesPerEpoch does not know it, as with TFRecord files.
  std::optional<int64_t> examples_per_epoch;
  // Not in TensorFlow. What to do if a run continues with an input that is not the one of the
  // checkpoint. nullopt: another pipeline starts at its beginning, with a warning; data with
  // another name (Dataset::FromTensorSlices) is an error.
  enum class OnInputChange {
    kRestart,  // the input starts at its beginning, with a warning
    kFail,     // FAILED_PRECONDITION
  };
  std::optional<OnInputChange> on_input_change;
  // Whether to write graph.pbtxt, and with each checkpoint its MetaGraphDef (model.ckpt-N.meta), as
  // Saver.save's write_meta_graph. A graph with more than 256 MiB of constants has no MetaGraphDef.
  bool checkpoint_save_graph_def = true;
  // Not in TensorFlow. True: a checkpoint is written by another thread while training continues.
  // This needs memory for a copy of the variables; without it, training waits. False: training
  // always waits.
  bool async_checkpoint = true;
  // Not in TensorFlow. True: the reference kernel also runs after each op of a step, and the first
  // op that differs ends the run with an error that names it. Set it to find the op that is wrong
  // on a new machine. A step is then tens of times slower.
  bool check_kernels = false;
  // Not in TensorFlow. How convolutions and matrix products are computed; kDirect has the smallest
  // rounding error.
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kAuto;
  // Not in TensorFlow. kBfloat16: matrix products of float32 tensors are computed in bfloat16 where
  // the CPU has instructions for that. Their sums and results are float32, as is everything else.
  // Convolutions with filters of 5x5 may be faster and less exact, on every CPU.
  // Use it for models of dense layers and attention; convolutions stay in float32 unless the CPU
  // has AMX. A model that casts its activations to bfloat16 does not need it. Errors of Validate:
  // any other dtype.
  DType compute_dtype = DType::kFloat32;
  // Not in TensorFlow. The number of batches whose gradients make one update, for batches that are
  // too large for the memory. A step then reads so many batches, and global_step, hooks, lengths
  // and periods count updates. Losses, gradients and what hooks see are those of the larger batch,
  // but batch normalization has the moments of the small ones, and its moving averages follow the
  // first of them. The memory holds the gradients of all batches of an update. Not on devices.
  int64_t accumulate_steps = 1;
  // Not in TensorFlow. Training keeps averages of the trainable variables, and evaluation,
  // prediction and exports use them: AverageWeights::Exponential(0.999). nullopt: none.
  std::optional<AverageWeights> average_weights;
  // Not in TensorFlow. True: the learning rates of optimizers are multiplied by the number of
  // replicas, so that a program keeps its rate for one replica when it runs on more, with a batch
  // that grows with them. Rates that a hook sets are not multiplied.
  bool scale_learning_rate = false;
  // Not in TensorFlow. A PNG file to draw the learning rate in, from the first step of a call of
  // Train to its last, before it begins. "": none.
  std::string plot_learning_rate = "";
  // Not in TensorFlow. Finders and checks before a run, at most one of them. In place of its work,
  // the first call of Train, TrainAndEvaluate or TrainEpochs prints a report on stdout and returns
  // a FinishedEarly, with which programs exit with 0. They leave model_dir as it is. finders.h says
  // what they do.
  std::string find_learning_rate = "";  // the PNG file of the curve
  bool find_batch_size = false;
  int64_t overfit_batches = 0;  // the number of batches
  bool summary = false;         // also the first call of Evaluate or Predict
  // Not in TensorFlow. True: each call does only a part of its work: a step of training, a batch of
  // an evaluation or a prediction, and exports. What they write goes to a temporary folder, which
  // is the Estimator's model_dir() and has the values of the real one. It is removed with the
  // Estimator. Hooks that are passed to the calls are left out, because they may write elsewhere.
  bool dry_run = false;
  // Not in TensorFlow. The number of shapes of batches whose programs are kept: of training, of
  // evaluation and of prediction each. model_fn is called again for each shape. Beyond the number,
  // the program that was not used for the longest time is dropped, with a warning.
  int max_compiled_shapes = 16;
  // Not in TensorFlow. Batches to evaluate before a long training, so that an evaluation that fails
  // does so now and not after hours. Long: TrainAndEvaluate or TrainEpochs would train at least
  // kLongTraining steps before they evaluate. The results are discarded, and hooks of the
  // evaluation are not called. 0: none. Keras has no such option, Lightning's has this name.
  int64_t num_sanity_val_steps = 2;
  // Not in TensorFlow. Passes of the compiler to leave out, to find the one that changes a result:
  // names of OptionalPasses().
  std::vector<std::string> disable_passes;
  // Not in TensorFlow. True: writes the instructions of each program to stdout when it is compiled:
  // kernels, layouts, shapes, bytes and FLOPs.
  bool print_plan = false;
  // Not in TensorFlow. A step that runs longer, also in a loop that does not end, is an error that
  // names the op and the trip of the loop. The step changes nothing, and the steps before it are
  // saved. 0: none. Not on devices.
  double step_timeout_secs = 0;
  // Not in TensorFlow. Writes the time of each op in these steps of training to
  // `timeline-<last>.json`, as a ProfilerHook does. nullopt: none.
  std::optional<StepRange> profile_steps;
  // Not in TensorFlow, whose strategies for several workers read TF_CONFIG. The processes that
  // train together (docs/cluster.md); null, or a group of one: this process alone. All of them run
  // the same program with the same options and make the same calls. The group serves one Estimator
  // at a time.
  std::shared_ptr<ProcessGroup> process_group;
  // Not in TensorFlow. Seconds after which a process that does not answer is taken to be lost, for
  // the program that makes the group.
  double peer_timeout_secs = 30;

  // Errors: INVALID_ARGUMENT listing every field that is out of range.
  absl::Status Validate() const;
  // False also if a cadence is 0, as in TensorFlow.
  bool SavesCheckpoints() const {
    return !disable_checkpoints && (save_checkpoints_every.has_value() ||
                                    (save_checkpoints_steps != 0 && save_checkpoints_secs != 0));
  }
  // Whether a finder takes the place of the run.
  bool HasFinder() const {
    return !find_learning_rate.empty() || find_batch_size || overfit_batches > 0 || summary;
  }
  // Seconds between checkpoints if neither field is set.
  static constexpr int64_t kDefaultSaveCheckpointsSecs = 600;
  static constexpr int64_t kLongTraining = 1000;  // see num_sanity_val_steps
};

// Adds what the config says about compiling to `options`. A pass is disabled, a plan is printed and
// kernels are checked if either of them says so. The config's conv_algorithm counts, unless it is
// kAuto, and its compute_dtype, unless it is kFloat32.
CompileOptions WithRunConfig(CompileOptions options, const RunConfig& config);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_RUN_CONFIG_H_
