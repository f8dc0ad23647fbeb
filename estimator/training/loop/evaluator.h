// Evaluator: exact evaluation. Every example of the input is scored once: full batches by one
// program on all replicas, the last, smaller one by a second program of its size.
#ifndef ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_
#define ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/loop/metric_accumulator.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/model_cache.h"
#include "estimator/training/model/strategy.h"

namespace estimator {

struct EvaluateOptions {
  // Batches; None: to the end of the input.
  std::optional<int64_t> steps = std::nullopt;
  Hooks hooks = {};
  // None: the newest in model_dir; without any, variables have their first values, warm-started
  // ones where the Estimator has warm_start_from.
  std::optional<std::string> checkpoint_path = std::nullopt;
  // Results go to <model_dir>/eval, or eval_<name>.
  std::string name = "";
};

// "<model_dir>/eval" or "<model_dir>/eval_<name>"
std::string EvalDir(const std::string& model_dir, const std::string& name);

// Keeps its programs between calls. Not thread-safe.
class Evaluator {
 public:
  // `strategy` outlives it; `config` is valid and has a model_dir.
  Evaluator(const Strategy& strategy, const RunConfig& config,
            const std::optional<WarmStartSettings>& warm_start = std::nullopt);
  ~Evaluator();

  // `trained`: the trainer's variables, to copy from where they are what is asked for.
  // Errors: INVALID_ARGUMENT for steps <= 0, an empty input or a checkpoint that is not one; those
  // of the input and the model. Source: TF 2.15 Estimator.evaluate. `loss` is the mean over
  // examples (TensorFlow's is the mean over batches, which depends on the batch size).
  absl::StatusOr<EvalResult> Evaluate(const InputFn& input_fn, const EvaluateOptions& options,
                                      const ModelState& trained);

 private:
  struct Pass;

  absl::Status RunBatch(Pass& pass, StepInput input);
  absl::StatusOr<EvalResult> Finish(Pass& pass);

  const Strategy& strategy_;
  const std::string model_dir_;
  ModelCache models_;
  const bool warm_started_;  // without a checkpoint
  std::unique_ptr<MetricAccumulator> host_metrics_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_EVALUATOR_H_
