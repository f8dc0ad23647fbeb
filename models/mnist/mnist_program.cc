#include "models/mnist/mnist_program.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

DEFINE_string(data_dir, "", "folder of MNIST's four files; empty: the program draws digits");
DEFINE_int64(batch_size, 1024, "examples in one step; on replicas: over all of them");
DEFINE_int64(train_steps, 1000, "the global_step at which training stops");
DEFINE_int64(eval_steps, -1, "batches of the test set to evaluate; -1: all of it, 0: skip");
DEFINE_double(learning_rate, 0.05, "initial learning rate; decays by 5% every 100000 examples");
DEFINE_double(momentum, 0, "momentum of the optimizer; 0: plain gradient descent");
DEFINE_bool(enable_predict, true, "predict the first test images after training");
DEFINE_string(
    predict_csv, "",
    "write the predicted class of each test image, by its number, to this CSV file; empty: "
    "no file");
DEFINE_string(export_dir, "", "export a SavedModel below this folder; empty: no export");
DEFINE_string(result_json, "", "also write the results to this file");

namespace estimator::mnist {

std::vector<FlagRequirement> FlagRequirements(FlagRequirement batch) {
  return {StatusRequirement("data_dir", CheckDataDir(FLAGS_data_dir)),
          {"learning_rate", FLAGS_learning_rate > 0 && std::isfinite(FLAGS_learning_rate),
           "positive and finite"},
          {"momentum", FLAGS_momentum >= 0 && FLAGS_momentum < 1, "in [0, 1)"},
          {"train_steps", FLAGS_train_steps > 0, "positive"},
          std::move(batch),
          {"export_dir", CanBeFolder(FLAGS_export_dir), "a folder that can be written"},
          {"eval_steps", FLAGS_eval_steps >= -1, "positive, 0 to skip, or -1 for all"},
          {"predict_csv", CanBeFile(FLAGS_predict_csv), "a file in a folder that can be written"},
          SkipBadRecordsRequirement(),
          {"result_json", CanBeFile(FLAGS_result_json), "a file in a folder that can be written"}};
}

OptimizerOptions OptimizerFromFlags() {
  return {.learning_rate = FLAGS_learning_rate,
          .decay_steps = std::max(1.0, std::floor(1e5 / static_cast<double>(FLAGS_batch_size))),
          .momentum = FLAGS_momentum};
}

ProgramPlan PlanFromFlags() {
  ProgramPlan plan;
  if (FLAGS_eval_steps != 0) plan.steps_per_eval = FLAGS_train_steps;
  if (FLAGS_enable_predict) plan.afterwards.emplace_back("5 predictions");
  if (!FLAGS_predict_csv.empty())
    plan.afterwards.push_back(absl::StrCat("predictions of the test set to ", FLAGS_predict_csv));
  if (!FLAGS_export_dir.empty())
    plan.afterwards.push_back(absl::StrCat("an export to ", FLAGS_export_dir));
  return plan;
}

void PrintPrediction(size_t image, const Prediction& row, const DigitSet& images) {
  const auto predicted = row.at("class_ids").scalar<int64_t>();
  ChiefOutput() << absl::StrFormat("test image %d is a %d with probability %.3f (label %d)\n",
                                   image, predicted, row.at("probabilities").AsDouble(predicted),
                                   images.labels.values<int32_t>()[image]);
}

absl::Status WriteResults(ReportFields evaluation, const TrainingSpeedHook& speed) {
  if (FLAGS_result_json.empty()) return absl::OkStatus();
  evaluation.emplace_back("images_per_second", speed.examples_per_second());
  evaluation.emplace_back("first_step_seconds", speed.first_step_seconds());
  evaluation.emplace_back("peak_rss_mib", PeakRssMib());
  return WriteResultJson(FLAGS_result_json, evaluation);
}

}  // namespace estimator::mnist
