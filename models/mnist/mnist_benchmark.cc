// Measures the network of mnist_tpu.cc, and prints one line of JSON:
//
//   mnist_benchmark --use_tpu=false --batch_size=128                 the speed of training
//   mnist_benchmark --mode=first_step --data_dir=$HOME/mnist         the start of the process
//   mnist_benchmark --mode=predict --model_dir=/tmp/m                the speed of Predict
//   mnist_benchmark --mode=predict_from_checkpoint --model_dir=/tmp/m
//   mnist_benchmark --mode=save --use_tpu=false                      what a checkpoint costs
//   mnist_benchmark --mode=loop --use_tpu=false                      what the training loop costs
//
// docs/performance.md describes the fields.
#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/training/strategies.h"
#include "models/common/benchmark_flags.h"
#include "models/common/benchmark_json.h"
#include "models/common/loop_cost.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/network.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(data_dir, "", "folder of MNIST's four files; empty: the program draws digits");
DEFINE_int64(batch_size, 1024, "examples in one step or one batch of predictions");
DEFINE_string(
    mode, "train",
    "train, first_step, predict, predict_from_checkpoint, save or loop: what is measured");
DEFINE_int64(rows, 10000, "predictions of --mode=predict_from_checkpoint");

namespace estimator::mnist {
namespace {

const std::vector<std::string>& Modes() {
  static const auto* const modes = new std::vector<std::string>{
      "train", "first_step", "predict", "predict_from_checkpoint", "save", "loop"};
  return *modes;
}

struct BenchmarkParams : tpu::Params {
  OptimizerOptions optimizer;
  DType compute_dtype = DType::kFloat32;
  // Model_fn sets the parts of the training step.
  std::shared_ptr<StepParts> parts = std::make_shared<StepParts>();
};

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const BenchmarkParams& params) {
  const Tensor logits = Inference(features["image"], mode, params.compute_dtype);  // f32 [N, 10]
  if (mode == Mode::kPredict) {
    return tpu::TPUEstimatorSpec::Predict(
        {{"class_ids", ArgMax(logits, 1)}, {"probabilities", Softmax(logits)}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  auto optimizer = MakeOptimizer(params.optimizer);
  if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
  *params.parts = {.loss = loss, .train_op = optimizer->Minimize(loss)};
  return tpu::TPUEstimatorSpec::Train(loss, params.parts->train_op);
}

using Classifier = tpu::TPUEstimator<BenchmarkParams>;

Classifier MakeClassifier(const tpu::RunConfig& config, BenchmarkParams params = {}) {
  params.compute_dtype = ActivationDTypeFromFlags();
  params.optimizer.decay_steps =
      std::max(1.0, std::floor(1e5 / static_cast<double>(FLAGS_batch_size)));
  return Classifier({.model_fn = ModelFn,
                     .config = config,
                     .params = params,
                     .use_tpu = FLAGS_use_tpu,
                     .train_batch_size = FLAGS_batch_size,
                     .eval_batch_size = FLAGS_batch_size,
                     .predict_batch_size = FLAGS_batch_size});
}

InputFn TrainInput(const Classifier& classifier, const MnistData& data) {
  return classifier.Input([&data](const BenchmarkParams& params) {
    return MnistDataset(data.train, Mode::kTrain, params.batch_size, params.context.num_hosts,
                        params.context.current_host);
  });
}

// The fields of the run, first those that say what was measured.
void Print(const ReportFields& measured) {
  PrintBenchmark("mnist_benchmark",
                 {{"mode", FLAGS_mode},
                  {"batch_size", FLAGS_batch_size},
                  {"compute_dtype", FLAGS_compute_dtype},
                  {"use_tpu", static_cast<int64_t>(FLAGS_use_tpu)},
                  {"input", FLAGS_data_dir.empty() ? "synthetic" : "real"}},
                 measured);
}

absl::Status MeasureSteps(const MnistData& data) {
  Classifier classifier = MakeClassifier(BenchmarkRunConfig());
  EST_ASSIGN_OR_RETURN(const ReportFields measured,
                       MeasureTraining(classifier, TrainInput(classifier, data), "images"));
  Print(measured);
  return absl::OkStatus();
}

// The first step of a usual run, which writes checkpoints.
absl::Status MeasureFirstStep(const MnistData& data) {
  Classifier classifier = MakeClassifier(RunConfigFromFlags());
  const auto hook = std::make_shared<BenchmarkHook>(BenchmarkOptionsFromFlags());
  EST_RETURN_IF_ERROR(
      classifier.Train(TrainInput(classifier, data), MaxSteps(1), {.hooks = {hook}}));
  ReportFields fields = hook->Fields("images");
  // One step has no speed.
  std::erase_if(fields, [](const auto& field) {
    const auto* const number = std::get_if<double>(&field.second);
    return number != nullptr && !std::isfinite(*number);
  });
  Print(fields);
  return absl::OkStatus();
}

Predictions Predict(Classifier& classifier, const DigitSet& images) {
  return classifier.Predict([&images](const BenchmarkParams& params) {
    return MnistDataset(images, Mode::kPredict, params.batch_size).Repeat();
  });
}

// Rows a second, after those of the warm-up. Trains one step if model_dir has no checkpoint.
absl::Status MeasurePrediction(const MnistData& data) {
  Classifier classifier = MakeClassifier(RunConfigFromFlags());
  EST_RETURN_IF_ERROR(classifier.Train(TrainInput(classifier, data), MaxSteps(1)));
  Predictions predictions = Predict(classifier, data.test);
  EST_ASSIGN_OR_RETURN(const MeasuredPredictions measured,
                       MeasurePredictions(predictions, FLAGS_batch_size));
  const int64_t rows = measured.batches * FLAGS_batch_size;
  Print({{"predictions_per_second", static_cast<double>(rows) / measured.seconds},
         {"measured_rows", rows},
         {"peak_rss_mib", PeakRssMib()}});
  return absl::OkStatus();
}

absl::Status MeasurePredictionFromCheckpoint(const MnistData& data) {
  Classifier classifier = MakeClassifier(RunConfigFromFlags());
  Predictions predictions = Predict(classifier, data.test);
  EST_RETURN_IF_ERROR(ReadRows(predictions, FLAGS_rows));
  Print({{"seconds_to_predictions", SecondsSinceProcessStart()},
         {"measured_rows", FLAGS_rows},
         {"peak_rss_mib", PeakRssMib()}});
  return absl::OkStatus();
}

// --mode=save saves after so many runs of the loop: steps, or on replicas --iterations steps each.
constexpr int64_t kRunsOfSave = 20;

// Saves a checkpoint after every kRunsOfSave runs, and measures how long each call keeps the loop.
class SaveTimes : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues& /*values*/) override {
    if (++runs_ % kRunsOfSave != 0) return absl::OkStatus();
    const Clock clock = SteadyClock();
    const double begin = clock();
    EST_RETURN_IF_ERROR(
        context.session()
            .SaveCheckpointInBackground([](const std::string&) { return absl::OkStatus(); })
            .status());
    milliseconds_.push_back(1000 * (clock() - begin));
    return absl::OkStatus();
  }
  // Without the first save, which allocates the copy of the variables.
  // Errors: FAILED_PRECONDITION if there was no other save.
  absl::StatusOr<double> Median() const {
    if (milliseconds_.size() < 2) {
      return FailedPrecondition(
          "save needs two saves, one after every ", kRunsOfSave, " runs, but there were ", runs_,
          " runs; a run has one step, or --iterations steps on replicas: raise --steps, and "
          "--seconds if it is given");
    }
    std::vector<double> later(milliseconds_.begin() + 1, milliseconds_.end());
    std::sort(later.begin(), later.end());
    return later[later.size() / 2];
  }
  int64_t num_saves() const { return static_cast<int64_t>(milliseconds_.size()); }

 private:
  int64_t runs_ = 0;
  std::vector<double> milliseconds_;
};

absl::Status MeasureSaves(const MnistData& data) {
  Classifier classifier = MakeClassifier(RunConfigFromFlags());
  const auto times = std::make_shared<SaveTimes>();
  const auto hook = std::make_shared<BenchmarkHook>(BenchmarkOptionsFromFlags());
  EST_RETURN_IF_ERROR(classifier.Train(TrainInput(classifier, data), {}, {.hooks = {times, hook}}));
  EST_ASSIGN_OR_RETURN(const double median, times->Median());
  Print({{"save_ms", median}, {"saves", times->num_saves()}, {"peak_rss_mib", PeakRssMib()}});
  return absl::OkStatus();
}

absl::Status MeasureLoop(const MnistData& data) {
  const tpu::RunConfig config = BenchmarkRunConfig();
  const BenchmarkParams params;
  Classifier classifier = MakeClassifier(config, params);
  const auto hook = std::make_shared<LoopCostHook>(BenchmarkOptionsFromFlags(),
                                                   WithRunConfig({}, config), params.parts);
  EST_RETURN_IF_ERROR(classifier.Train(TrainInput(classifier, data), {}, {.hooks = {hook}}));
  Print(hook->Fields());
  return absl::OkStatus();
}

// --mode=first_step would have no step to train.
absl::Status CheckIsNew(const std::string& model_dir) {
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> latest, LatestCheckpoint(model_dir));
  if (!latest.has_value()) return absl::OkStatus();
  return FailedPrecondition("first_step measures the first step of a new run, but there is ",
                            *latest, "; give a folder without a checkpoint, or leave it out");
}

absl::Status Run() {
  const bool from_checkpoint = FLAGS_mode == "predict_from_checkpoint";
  const BenchmarkOptions options = BenchmarkOptionsFromFlags();
  EST_RETURN_IF_ERROR(RequireBenchmarkFlags(
      {StatusRequirement("data_dir", CheckDataDir(FLAGS_data_dir)),
       BatchRequirement("batch_size", FLAGS_batch_size),
       {"rows", FLAGS_rows > 0, "positive"},
       {"rows", from_checkpoint || !FlagWasGiven("rows"), "",
        "is for --mode=predict_from_checkpoint only; the other modes measure --steps steps"},
       {"mode", std::find(Modes().begin(), Modes().end(), FLAGS_mode) != Modes().end(),
        absl::StrCat("one of ", absl::StrJoin(Modes(), ", "))},
       {"mode", FLAGS_mode != "loop" || !FLAGS_use_tpu, "", "loop needs --use_tpu=false"},
       // On replicas a run has several steps: MeasureSaves counts them.
       {"steps",
        FLAGS_mode != "save" || FLAGS_use_tpu ||
            options.warmup_steps + options.steps >= 2 * kRunsOfSave,
        "",
        absl::StrCat("is ", options.steps, ", but save needs two saves, one after every ",
                     kRunsOfSave, " steps; give at least ",
                     2 * kRunsOfSave - options.warmup_steps)},
       StatusRequirement("model_dir", FLAGS_mode == "first_step" && !FLAGS_model_dir.empty()
                                          ? CheckIsNew(FLAGS_model_dir)
                                          : absl::OkStatus()),
       TrainedModelRequirement("model_dir", from_checkpoint ? FLAGS_model_dir : ""),
       {"model_dir", !from_checkpoint || !FLAGS_model_dir.empty(),
        "a folder with a checkpoint, such as --mode=predict leaves"}}));
  EST_ASSIGN_OR_RETURN(const MnistData data, LoadMnist(FLAGS_data_dir, FLAGS_batch_size));
  if (FLAGS_mode == "first_step") return MeasureFirstStep(data);
  if (FLAGS_mode == "predict") return MeasurePrediction(data);
  if (FLAGS_mode == "predict_from_checkpoint") return MeasurePredictionFromCheckpoint(data);
  if (FLAGS_mode == "save") return MeasureSaves(data);
  if (FLAGS_mode == "loop") return MeasureLoop(data);
  return MeasureSteps(data);
}

}  // namespace
}  // namespace estimator::mnist

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the network for MNIST and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::mnist::Run);
}
