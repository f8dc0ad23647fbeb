// Evaluator: exact evaluation. Every example of the input is scored once: full batches by one
// program for each shape on all replicas, the last, smaller batch by a program of its size.
#ifndef ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_
#define ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/step_runner.h"
#include "estimator/training/metrics/gathered_metrics.h"
#include "estimator/training/metrics/metric_accumulator.h"
#include "estimator/training/model/model_cache.h"
#include "estimator/training/model/strategy.h"
#include "estimator/training/peers/peers.h"

namespace estimator {

struct EvaluateOptions {
  // The number of batches; nullopt: to the end of the input, which must have one.
  std::optional<int64_t> steps = std::nullopt;
  Hooks hooks = {};
  // nullopt: the newest in model_dir. If there is none, the variables have their first values,
  // which come from warm_start_from if the Estimator has it.
  std::optional<std::string> checkpoint_path = std::nullopt;
  // Results are written to <model_dir>/eval, or to <model_dir>/eval_<name>.
  std::string name = "";
  // True: no event file is written.
  bool discard = false;
};

// "<model_dir>/eval" or "<model_dir>/eval_<name>"
std::string EvalDir(const std::string& model_dir, const std::string& name);

// Keeps its programs between calls. Not thread-safe.
class Evaluator {
 public:
  // `strategy` and `peers` outlive the evaluator; `config` is valid and has a model_dir. If the
  // strategy divides an evaluation among the peers, all of them make the same calls and get the
  // same result. The chief writes it.
  Evaluator(const Strategy& strategy, const RunConfig& config, Peers& peers,
            const std::optional<WarmStartSettings>& warm_start = std::nullopt);
  ~Evaluator();

  // `trained`: the trainer's variables, which are copied if they have the right values.
  // `loss` is the mean over examples. TensorFlow's is the mean over batches, which depends on the
  // batch size.
  // Errors: INVALID_ARGUMENT for steps <= 0, for an empty input, or for one that never ends if no
  // steps are given; those of opening checkpoint_path, of the input and of the model.
  // Source: TF 2.15 Estimator.evaluate.
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options,
                                      const ModelState& trained);
  // The same with the values that `trained` has now, which may be newer than every checkpoint.
  // options.checkpoint_path is not used.
  absl::StatusOr<EvalResult> EvaluateInMemory(const InputFn& input_fn,
                                              const EvaluateOptions& options,
                                              const ModelState& trained);

 private:
  struct Pass;
  // Gives the variables of the model their values. Returns the prefix of the checkpoint, or "".
  using LoadVariables = std::function<absl::StatusOr<std::string>(const BuiltModel& model)>;

  absl::Status Check(const EvaluateOptions& options) const;
  // Run without what the peers must know of its error.
  absl::StatusOr<EvalResult> RunHere(const InputFn& input_fn, const EvaluateOptions& options,
                                     const LoadVariables& load);
  absl::StatusOr<EvalResult> Run(const InputFn& input_fn, const EvaluateOptions& options,
                                 const LoadVariables& load);

  // Runs `next`, the next batch of `input`.
  absl::StatusOr<StepRun> RunBatch(Pass& pass, StepRunner& runner, Feeder& input,
                                   const StepInput& next);
  absl::StatusOr<EvalResult> Finish(Pass& pass);

  const Strategy& strategy_;
  Peers& peers_;
  const bool divided_;  // among the peers
  const std::string model_dir_;
  ModelCache models_;
  std::unique_ptr<MetricAccumulator> host_metrics_;
  GatheredMetrics gathered_;  // of ModelSpec::host_metrics
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_
