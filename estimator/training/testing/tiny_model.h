// A model whose step costs microseconds, with its input and a hook that watches it: for tests of
// the loops.
#ifndef ESTIMATOR_TRAINING_TESTING_TINY_MODEL_H_
#define ESTIMATOR_TRAINING_TESTING_TINY_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/estimator.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

struct TinyParams : EstimatorParams {
  double learning_rate = 0.02;
  double dropout = 0;
  int64_t hidden_units = 4;
};

// features {"x": f32 [n, 2]}, labels f32 [n, 1]: a smooth function, different for every row.
Element TinyExamples(int64_t num_examples = 20);
// One pass over them in batches; the last may be smaller.
Dataset TinyDataset(int64_t batch_size, int64_t num_examples = 20);
// f32 [n, 1]: dense/..., relu, dropout, dense_1/...
Tensor TinyNetwork(const Features& features, bool training, double dropout,
                   int64_t hidden_units = 4);
// Mean squared error, named `tiny_loss`.
Tensor TinyLoss(const Tensor& labels, const Tensor& predictions);
// Momentum in training; the metric `mae` in evaluation; predictions `y` and `twice`.
EstimatorSpec TinyModel(const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params);

// Quiet: no log lines, summaries or graph; a checkpoint every 5 steps; seed 7.
RunConfig TinyConfig(const std::string& model_dir);
Estimator<TinyParams>::Options TinyOptions(const std::string& model_dir);

// Watches `tiny_loss` in every run.
class RunRecorder : public SessionRunHook {
 public:
  std::vector<int64_t> steps;  // the global step after each run
  std::vector<double> losses;  // of each run's last step
  int num_begins = 0;
  int num_ends = 0;

  absl::Status Begin(Graph& graph) override;
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  Tensor loss_;
};

// Every variable of a checkpoint, as "name: type bytes", for comparing bits. Errors: those of the
// reader.
absl::StatusOr<std::string> CheckpointBits(const std::string& prefix);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TESTING_TINY_MODEL_H_
