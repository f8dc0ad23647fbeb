// Trains a ResNet on ImageNet, evaluates and exports it: TensorFlow's official TPU ResNet program.
//
//   resnet_main --use_tpu=false --resnet_depth=18 --image_size=64      with drawn pictures
//   resnet_main --data_dir=$HOME/imagenet --model_dir=/tmp/resnet      with ImageNet's TFRecords
#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/main.h"
#include "estimator/checkpoint/checkpoints_iterator.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "models/common/predictions_csv.h"
#include "models/common/run_flags.h"
#include "models/imagenet/imagenet_input.h"
#include "models/imagenet/resnet_flags.h"
#include "models/imagenet/resnet_model.h"
#include "tpu/tpu_estimator.h"

namespace estimator::imagenet {
namespace {

using Classifier = tpu::TPUEstimator<ResnetParams>;

auto Input(Mode mode) {
  return [mode](const ResnetParams& params) {
    ImageNetInputOptions options = InputOptionsFromFlags();
    options.num_hosts = params.context.num_hosts;
    options.current_host = params.context.current_host;
    return ImageNetDataset(options, mode, params.batch_size);
  };
}

absl::StatusOr<EvalResult> Evaluate(Classifier& classifier, EvaluateOptions options = {}) {
  EST_ASSIGN_OR_RETURN(const EvalResult result,
                       classifier.Evaluate(Input(Mode::kEval), std::move(options)));
  ChiefOutput() << EvaluationTable(result);
  return result;
}

// Evaluates the checkpoints that another process writes, until that of the last training step.
// Errors: CANCELLED after an interrupt; DEADLINE_EXCEEDED if no checkpoint came within
//   --eval_timeout.
absl::StatusOr<std::optional<EvalResult>> EvaluateCheckpoints(Classifier& classifier) {
  if (OnlyChecks()) return Evaluate(classifier);  // needs no checkpoint
  const int64_t train_steps = RunSizesFromFlags().train_steps;
  CheckpointsIteratorOptions options;
  if (FLAGS_eval_timeout >= 0) options.timeout_secs = FLAGS_eval_timeout;
  CheckpointsIterator checkpoints(classifier.model_dir(), std::move(options));
  std::optional<EvalResult> last;
  while (true) {
    // If several processes evaluate together, they take the checkpoint that the chief finds.
    std::string checkpoint;
    if (classifier.peers().is_chief()) checkpoint = checkpoints.Next().value_or("");
    EST_ASSIGN_OR_RETURN(checkpoint,
                         classifier.peers().FromChief("the next checkpoint", checkpoint));
    if (checkpoint.empty()) break;
    absl::StatusOr<EvalResult> result = Evaluate(classifier, {.checkpoint_path = checkpoint});
    // The training keeps few checkpoints. CheckpointsIterator then finds the next one.
    if (absl::IsNotFound(result.status()) && CheckpointModifiedTimeSeconds(checkpoint) == 0) {
      LOG(WARNING) << checkpoint << " was deleted before it was evaluated; the next one follows";
      continue;
    }
    EST_ASSIGN_OR_RETURN(last, std::move(result));
    if (last->global_step() >= train_steps) {
      LOG(INFO) << "Evaluation ends: the checkpoint has step " << last->global_step() << " of "
                << train_steps;
      return last;
    }
  }
  if (InterruptRequested()) {
    return absl::CancelledError(
        last.has_value() ? absl::StrCat("interrupted while waiting for a new checkpoint; the last "
                                        "one that was evaluated has step ",
                                        last->global_step())
                         : "interrupted while waiting for a checkpoint; none was evaluated");
  }
  if (!last.has_value()) {
    return absl::DeadlineExceededError(absl::StrCat(
        "no checkpoint in ", classifier.model_dir(), " within ", FLAGS_eval_timeout,
        " s (--eval_timeout), so nothing was evaluated; check --model_dir, or wait longer"));
  }
  LOG(INFO) << "Evaluation ends at step " << last->global_step() << " of " << train_steps
            << ": no new checkpoint within " << FLAGS_eval_timeout << " s (--eval_timeout)";
  return last;
}

absl::StatusOr<int64_t> CurrentStep(const Classifier& classifier) {
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> checkpoint, classifier.LatestCheckpoint());
  if (!checkpoint.has_value()) return 0;
  return LoadGlobalStep(*checkpoint);
}

// What the program does besides training, for the plan in the log.
ProgramPlan PlanFromFlags() {
  const RunSizes sizes = RunSizesFromFlags();
  ProgramPlan plan{.train_steps = sizes.train_steps};
  if (FLAGS_mode == "train_and_eval") plan.steps_per_eval = sizes.steps_per_eval;
  if (!FLAGS_predict_csv.empty())
    plan.afterwards.push_back(absl::StrCat("predictions to ", FLAGS_predict_csv));
  if (!FLAGS_export_dir.empty())
    plan.afterwards.push_back(absl::StrCat("an export to ", FLAGS_export_dir));
  return plan;
}

// Trains, and evaluates after every steps_per_eval steps.
absl::StatusOr<std::optional<EvalResult>> TrainAndEvaluate(
    Classifier& classifier, const std::shared_ptr<TrainingSpeedHook>& speed) {
  const RunSizes sizes = RunSizesFromFlags();
  EST_ASSIGN_OR_RETURN(int64_t step, CurrentStep(classifier));
  const double batches_per_epoch =
      static_cast<double>(sizes.num_train_images) / static_cast<double>(sizes.train_batch_size);
  LOG(INFO) << "Training for " << sizes.train_steps << " steps ("
            << static_cast<double>(sizes.train_steps) / batches_per_epoch
            << " epochs in total); the current step is " << step;
  const InputFn train_input = classifier.Input(Input(Mode::kTrain));  // keeps its position
  const auto plan = std::make_shared<ProgramPlanHook>(PlanFromFlags());
  std::optional<EvalResult> last;
  do {
    const int64_t next = FLAGS_mode == "train"
                             ? sizes.train_steps
                             : std::min(step + sizes.steps_per_eval, sizes.train_steps);
    EST_RETURN_IF_ERROR(classifier.Train(train_input, MaxSteps(next), {.hooks = {speed, plan}}));
    step = std::max(step, next);
    if (FLAGS_mode == "train_and_eval") {
      EST_ASSIGN_OR_RETURN(last, Evaluate(classifier));
    }
  } while (step < sizes.train_steps);
  return last;
}

absl::Status WritePredictions(Classifier& classifier) {
  // A check is made by the call of Predict, even if only an export follows.
  if (FLAGS_predict_csv.empty() && !OnlyChecks()) return absl::OkStatus();
  PredictionsCsvOptions options;
  // The classes of drawn pictures begin at 1 as well.
  options.first_label = FLAGS_data_dir.empty() ? 1 : FLAGS_first_label;
  if (FLAGS_predict_probabilities) options.probabilities_key = "probabilities";
  Predictions predictions = classifier.Predict(Input(Mode::kPredict));
  EST_ASSIGN_OR_RETURN(const int64_t count,
                       WritePredictionsCsv(
                           FLAGS_predict_csv, [&] { return predictions.Next(); }, options));
  ChiefOutput() << "wrote the predictions of " << count << " images to " << FLAGS_predict_csv
                << "\n";
  return absl::OkStatus();
}

absl::Status WriteResults(const std::optional<EvalResult>& evaluation,
                          const TrainingSpeedHook& speed) {
  if (FLAGS_result_json.empty()) return absl::OkStatus();
  ReportFields fields;
  if (evaluation.has_value()) fields = EvaluationFields(*evaluation);
  fields.emplace_back("images_per_second", speed.examples_per_second());
  fields.emplace_back("first_step_seconds", speed.first_step_seconds());
  fields.emplace_back("peak_rss_mib", PeakRssMib());
  return WriteResultJson(FLAGS_result_json, fields);
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(CheckResnetFlags());
  const RunSizes sizes = RunSizesFromFlags();
  if (FLAGS_data_dir.empty()) {
    LOG(INFO) << "No --data_dir: drawing " << sizes.num_train_images << " training and "
              << sizes.num_eval_images << " test pictures; these are not ImageNet's images";
  }
  tpu::RunConfig config = RunConfigFromFlags();
  // The number of records in the files is not known without reading them.
  if (!config.examples_per_epoch.has_value()) config.examples_per_epoch = sizes.num_train_images;
  // A check (--tpu_check) compiles the modes that have a batch size: those that this run needs.
  const bool evaluates = FLAGS_mode == "eval" || FLAGS_mode == "train_and_eval";
  const bool predicts = !FLAGS_predict_csv.empty() || !FLAGS_export_dir.empty();
  Classifier classifier({.model_fn = ResnetModelFn,
                         .config = std::move(config),
                         .params = ResnetParamsFromFlags(),
                         .use_tpu = FLAGS_use_tpu,
                         .train_batch_size = sizes.train_batch_size,
                         .eval_batch_size = evaluates ? sizes.eval_batch_size : 0,
                         .predict_batch_size = predicts ? sizes.eval_batch_size : 0});
  const auto speed = std::make_shared<TrainingSpeedHook>();
  std::optional<EvalResult> evaluation;
  if (FLAGS_mode == "eval") {
    EST_ASSIGN_OR_RETURN(evaluation, EvaluateCheckpoints(classifier));
  } else if (FLAGS_mode != "predict") {
    EST_ASSIGN_OR_RETURN(evaluation, TrainAndEvaluate(classifier, speed));
  }
  EST_RETURN_IF_ERROR(WritePredictions(classifier));
  if (!FLAGS_export_dir.empty()) {
    EST_ASSIGN_OR_RETURN(
        const std::string dir,
        classifier.ExportSavedModel(FLAGS_export_dir, ResnetServingInput(sizes.image_size)));
    ChiefOutput() << "exported to: " << dir << "\n";
  }
  EST_RETURN_IF_ERROR(WriteResults(evaluation, *speed));
  // The folder of a dry run is removed.
  if (!classifier.config().dry_run)
    ChiefOutput() << "to show the run: " << TensorBoardCommand(classifier.model_dir()) << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::imagenet

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains a ResNet on ImageNet or on drawn pictures, and evaluates it");
  return estimator::Main(argc, argv, estimator::imagenet::Run);
}
