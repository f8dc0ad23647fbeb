// Trains, evaluates and uses a small network on MNIST, with TPUEstimator.
//
//   mnist_tpu --use_tpu=false                                on the CPU, with drawn digits
//   mnist_tpu --data_dir=$HOME/mnist --model_dir=/tmp/mnist  on eight shards, with MNIST
#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/main.h"
#include "estimator/training/report.h"
#include "models/common/run_flags.h"
#include "models/mnist/mnist.h"
#include "models/mnist/mnist_data.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(data_dir, "", "folder of MNIST's four files; empty: the program draws digits");
DEFINE_int64(batch_size, 1024, "examples in one step over all shards");
DEFINE_int64(train_steps, 1000, "the global_step at which training stops");
DEFINE_int64(eval_steps, -1, "batches of the test set to evaluate; -1: all of it, 0: skip");
DEFINE_double(learning_rate, 0.05, "initial learning rate; decays by 5% every 100000 examples");
DEFINE_double(momentum, 0, "momentum of the optimizer; 0: plain gradient descent");
DEFINE_bool(enable_predict, true, "predict the first test images after training");
DEFINE_string(export_dir, "", "export a SavedModel below this folder; empty: no export");
DEFINE_string(result_json, "", "also write the results to this file");

namespace estimator {
namespace {

struct MnistParams : tpu::Params {
  double learning_rate = 0.05;
  double momentum = 0;
  double decay_steps = 97;
};

MetricMap TestMetrics(const Tensor& labels, const Tensor& logits) {
  return {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, 1))}};
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const MnistParams& params) {
  const Tensor logits = mnist::Inference(features["image"], mode);  // f32 [N, 10]
  if (mode == Mode::kPredict) {
    return tpu::TPUEstimatorSpec::Predict(
        {{"class_ids", ArgMax(logits, 1)}, {"probabilities", Softmax(logits)}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return tpu::TPUEstimatorSpec::Eval(loss, {TestMetrics, {labels, logits}});
  }
  const Schedule rate = train::ExponentialDecay(
      {.initial = params.learning_rate, .decay_steps = params.decay_steps, .decay_rate = 0.95});
  const Operation train_op =
      params.momentum > 0
          ? tpu::CrossShardOptimizer(train::Momentum(rate, params.momentum)).Minimize(loss)
          : tpu::CrossShardOptimizer(train::GradientDescent(rate)).Minimize(loss);
  return tpu::TPUEstimatorSpec::Train(loss, train_op);
}

// Returns the input_fn of a mode.
auto Input(const mnist::DigitSet& set, Mode mode) {
  return [&set, mode](const MnistParams& params) {
    return mnist::MnistDataset(set, mode, params.batch_size);
  };
}

using MnistEstimator = tpu::TPUEstimator<MnistParams>;

// Prints the predicted class of the first few test images, and its probability.
absl::Status Predict(MnistEstimator& estimator, const mnist::DigitSet& images) {
  EST_ASSIGN_OR_RETURN(const std::vector<Prediction> rows,
                       estimator.Predict(Input(images, Mode::kPredict)).All());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto predicted = rows[i].at("class_ids").scalar<int64_t>();
    std::cout << absl::StrFormat("test image %d is a %d with probability %.3f (label %d)\n", i,
                                 predicted, rows[i].at("probabilities").AsDouble(predicted),
                                 images.labels.values<int32_t>()[i]);
  }
  return absl::OkStatus();
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(RequireFlags(
      {StatusRequirement("data_dir", mnist::CheckDataDir(FLAGS_data_dir)),
       {"learning_rate", FLAGS_learning_rate > 0 && std::isfinite(FLAGS_learning_rate),
        "positive and finite"},
       {"momentum", FLAGS_momentum >= 0 && FLAGS_momentum < 1, "in [0, 1)"},
       {"train_steps", FLAGS_train_steps > 0, "positive"},
       BatchRequirement("batch_size", FLAGS_batch_size),
       {"export_dir", CanBeFolder(FLAGS_export_dir), "a folder that can be written"},
       {"eval_steps", FLAGS_eval_steps >= -1, "positive, 0 to skip, or -1 for all"},
       {"result_json", CanBeFile(FLAGS_result_json), "a file in a folder that can be written"}}));
  EST_ASSIGN_OR_RETURN(const mnist::MnistData data,
                       mnist::LoadMnist(FLAGS_data_dir, FLAGS_batch_size));
  MnistParams params;
  params.learning_rate = FLAGS_learning_rate;
  params.momentum = FLAGS_momentum;
  params.decay_steps = std::max(1.0, std::floor(100000.0 / static_cast<double>(FLAGS_batch_size)));
  MnistEstimator estimator({.model_fn = ModelFn,
                            .config = RunConfigFromFlags(),
                            .params = params,
                            .use_tpu = FLAGS_use_tpu,
                            .train_batch_size = FLAGS_batch_size,
                            .eval_batch_size = FLAGS_batch_size,
                            .predict_batch_size = FLAGS_batch_size});

  const auto speed = std::make_shared<TrainingSpeedHook>();
  EST_RETURN_IF_ERROR(estimator.Train(Input(data.train, Mode::kTrain), MaxSteps(FLAGS_train_steps),
                                      {.hooks = {speed}}));
  ReportFields fields;
  if (FLAGS_eval_steps != 0) {
    EvaluateOptions options;
    if (FLAGS_eval_steps > 0) options.steps = FLAGS_eval_steps;
    EST_ASSIGN_OR_RETURN(const EvalResult result,
                         estimator.Evaluate(Input(data.test, Mode::kEval), options));
    std::cout << EvaluationTable(result);
    fields = EvaluationFields(result);
  }
  if (FLAGS_enable_predict)
    EST_RETURN_IF_ERROR(Predict(estimator, mnist::FirstExamples(data.test, 5)));
  if (!FLAGS_export_dir.empty()) {
    EST_ASSIGN_OR_RETURN(const std::string dir,
                         estimator.ExportSavedModel(
                             FLAGS_export_dir, BuildRawServingInputReceiverFn(
                                                   {{"image", {DType::kUint8, {-1, 28, 28}}}})));
    std::cout << "exported to: " << dir << "\n";
  }
  if (!FLAGS_result_json.empty()) {
    fields.emplace_back("images_per_second", speed->examples_per_second());
    fields.emplace_back("first_step_seconds", speed->first_step_seconds());
    fields.emplace_back("peak_rss_mib", PeakRssMib());
    EST_RETURN_IF_ERROR(WriteResultJson(FLAGS_result_json, fields));
  }
  std::cout << "to show the run: " << TensorBoardCommand(estimator.model_dir()) << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains a network on MNIST with TPUEstimator, evaluates it and predicts");
  return estimator::Main(argc, argv, estimator::Run);
}
