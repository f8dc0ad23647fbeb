// The common part of the programs mnist.cc and mnist_tpu.cc: their flags, and what they do with an
// Estimator of either kind.
#ifndef MODELS_MNIST_MNIST_PROGRAM_H_
#define MODELS_MNIST_MNIST_PROGRAM_H_

#include <gflags/gflags.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/estimator.h"
#include "models/common/predictions_csv.h"
#include "models/common/record_run.h"
#include "models/common/run_config_flags.h"
#include "models/common/skip_bad_records.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/network.h"

DECLARE_string(data_dir);
DECLARE_int64(batch_size);
DECLARE_int64(train_steps);
DECLARE_int64(eval_steps);
DECLARE_bool(enable_predict);
DECLARE_string(export_dir);
DECLARE_string(predict_csv);
DECLARE_string(result_json);

namespace estimator::mnist {

// What the flags of mnist_program.cc must be, and `batch`, the requirement for --batch_size.
std::vector<FlagRequirement> FlagRequirements(FlagRequirement batch);

// The options of the optimizer in the flags.
OptimizerOptions OptimizerFromFlags();

// What TrainEvaluateAndPredict does besides training, for the plan in the log.
ProgramPlan PlanFromFlags();

// Prints the predicted class of an image, its probability and the label.
void PrintPrediction(size_t image, const Prediction& row, const DigitSet& images);

// Writes --result_json.
//   evaluation: the fields of an evaluation, or none.
absl::Status WriteResults(ReportFields evaluation, const TrainingSpeedHook& speed);

// Trains, evaluates, predicts and exports as the flags say.
//   Params: has a batch_size.
template <typename Params>
absl::Status TrainEvaluateAndPredict(EstimatorOf<Params>& estimator, const MnistData& data) {
  // The input_fn of a mode.
  const auto input = [](const DigitSet& set, Mode mode) {
    return [&set, mode](const Params& params) {
      return MnistDataset(set, mode, params.batch_size, params.context.num_hosts,
                          params.context.current_host);
    };
  };
  // All processes that train together make the same calls; the chief reports.
  const auto speed = std::make_shared<TrainingSpeedHook>();
  const auto plan = std::make_shared<ProgramPlanHook>(PlanFromFlags());
  EST_RETURN_IF_ERROR(
      estimator.Train(input(data.train, Mode::kTrain), MaxSteps(FLAGS_train_steps),
                      {.hooks = {speed, plan, RecordRunHook(data.train.labels.num_elements())}}));
  ReportFields evaluation;
  if (FLAGS_eval_steps != 0) {
    EvaluateOptions options;
    if (FLAGS_eval_steps > 0) options.steps = FLAGS_eval_steps;
    EST_ASSIGN_OR_RETURN(const EvalResult result,
                         estimator.Evaluate(input(data.test, Mode::kEval), options));
    ChiefOutput() << EvaluationTable(result);
    evaluation = EvaluationFields(result);
    EST_RETURN_IF_ERROR(RecordExamples(estimator, input(data.test, Mode::kEval)));
  }
  if (FLAGS_enable_predict) {
    const DigitSet images = FirstExamples(data.test, 5);
    EST_ASSIGN_OR_RETURN(const std::vector<Prediction> rows,
                         estimator.Predict(input(images, Mode::kPredict)).All());
    for (size_t i = 0; i < rows.size(); ++i) PrintPrediction(i, rows[i], images);
  }
  if (!FLAGS_predict_csv.empty()) {
    Predictions predictions = estimator.Predict(input(data.test, Mode::kPredict));
    EST_RETURN_IF_ERROR(WritePredictionsCsv(FLAGS_predict_csv, [&] { return predictions.Next(); },
                                            {.class_key = "class_ids"})
                            .status());
  }
  if (!FLAGS_export_dir.empty()) {
    EST_ASSIGN_OR_RETURN(const std::string dir,
                         estimator.ExportSavedModel(
                             FLAGS_export_dir, BuildRawServingInputReceiverFn(
                                                   {{"image", {DType::kUint8, {-1, 28, 28}}}})));
    ChiefOutput() << "exported to: " << dir << "\n";
  }
  EST_RETURN_IF_ERROR(WriteResults(std::move(evaluation), *speed));
  // The folder of a dry run is removed.
  if (!estimator.config().dry_run)
    ChiefOutput() << "to show the run: " << TensorBoardCommand(estimator.model_dir()) << "\n";
  return absl::OkStatus();
}

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_MNIST_PROGRAM_H_
