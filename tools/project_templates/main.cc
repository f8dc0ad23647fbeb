// Trains the model, evaluates it and exports it. `--help` lists the flags.
#include "estimator/base/main.h"

#include <gflags/gflags.h>

#include <string>

#include "model.h"
#include "models/common/run_flags.h"

DEFINE_int64(train_steps, 1000, "train until global_step is this");
DEFINE_int64(batch_size, 128, "examples in a step, on all replicas together");
DEFINE_double(learning_rate, model::Params().learning_rate, "of the momentum optimizer");
DEFINE_string(export_dir, "", "folder in which to write a SavedModel; empty: it is not exported");

namespace {

using namespace estimator;

absl::Status Run() {
  EST_RETURN_IF_ERROR(RequireFlags({
      {"train_steps", FLAGS_train_steps > 0, "positive"},
      BatchRequirement("batch_size", FLAGS_batch_size),
      {"export_dir", CanBeFolder(FLAGS_export_dir), "a folder that can be written"},
  }));
  model::Params params;
  params.learning_rate = FLAGS_learning_rate;
  tpu::TPUEstimator<model::Params> estimator({.model_fn = model::ModelFn,
                                              .config = RunConfigFromFlags(),
                                              .params = params,
                                              .use_tpu = FLAGS_use_tpu,
                                              .train_batch_size = FLAGS_batch_size,
                                              .eval_batch_size = FLAGS_batch_size,
                                              .predict_batch_size = FLAGS_batch_size});
  EST_RETURN_IF_ERROR(estimator.Train(model::TrainInput, MaxSteps(FLAGS_train_steps)));
  EST_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(model::EvalInput));
  ChiefOutput() << EvaluationTable(result);
  if (FLAGS_export_dir.empty()) return absl::OkStatus();
  const auto receiver = BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  EST_ASSIGN_OR_RETURN(const std::string dir,
                       estimator.ExportSavedModel(FLAGS_export_dir, receiver));
  ChiefOutput() << "exported to " << dir << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains a model, evaluates it and exports it");
  // On the CPU, unless a flag says otherwise: --use_tpu runs on eight replicas.
  gflags::SetCommandLineOptionWithMode("use_tpu", "false", gflags::SET_FLAGS_DEFAULT);
  return estimator::Main(argc, argv, Run);
}
