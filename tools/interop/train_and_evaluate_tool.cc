// Trains a line with TrainAndEvaluate. testdata/interop/check_train_and_evaluate.py runs the same
// with TensorFlow and compares what both evaluate and export.
//
//   train_and_evaluate_tool MODEL_DIR MAX_STEPS THROTTLE_SECS STOP_BELOW MEMORY_EVERY
//
// A checkpoint is written every 10 steps. STOP_BELOW: the loss of an evaluation that ends training;
// 0: none. MEMORY_EVERY: an InMemoryEvaluatorHook with this every_n_iter, which writes to
// eval_memory; 0: none.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "estimator/estimator.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

EstimatorSpec ModelFn(const Features& features, const Labels& labels, Mode mode) {
  const Tensor y =
      layers::Dense(features["x"], {.units = 1, .kernel_initializer = initializers::Zeros()});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  const Tensor loss = losses::MeanSquaredError(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
}

Dataset Points(const EstimatorParams&) {
  constexpr int64_t kCount = 100;
  Array x(DType::kFloat32, {kCount, 1}), y(DType::kFloat32, {kCount, 1});
  for (int64_t i = 0; i < kCount; ++i) {
    x.data<float>()[i] = static_cast<float>(i) / kCount;
    y.data<float>()[i] = 3 * x.data<float>()[i] + 1;
  }
  return Dataset::FromTensorSlices({.features = {{"x", x}}, .labels = y});
}
Dataset TrainInput(const EstimatorParams& params) { return Points(params).Repeat().Batch(20); }
Dataset EvalInput(const EstimatorParams& params) { return Points(params).Batch(50); }

absl::Status Run(const std::vector<std::string>& arguments) {
  RunConfig config;
  config.model_dir = arguments[0];
  config.save_checkpoints_steps = 10;
  Estimator<> estimator({.model_fn = ModelFn, .config = config});
  const ServingInputReceiverFn receiver =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 1}}}});
  Hooks hooks;
  if (const double stop_below = std::atof(arguments[3].c_str()); stop_below > 0)
    hooks.push_back(StopIfLowerHook(estimator, "loss", stop_below, {.run_every_steps = 1}));
  if (const int64_t every = std::atoll(arguments[4].c_str()); every > 0) {
    hooks.push_back(std::make_shared<InMemoryEvaluatorHook>(
        estimator, EvalInput, InMemoryEvaluatorOptions{.name = "memory", .every_n_iter = every}));
  }
  return TrainAndEvaluate(
             estimator,
             {.input_fn = TrainInput,
              .max_steps = std::atoll(arguments[1].c_str()),
              .hooks = hooks},
             {.input_fn = EvalInput,
              .steps = std::nullopt,
              .exporters = {std::make_shared<LatestExporter>(
                                LatestExporter::Options{.name = "latest",
                                                        .serving_input_receiver_fn = receiver,
                                                        .exports_to_keep = 2}),
                            std::make_shared<BestExporter>(BestExporter::Options{
                                .name = "best", .serving_input_receiver_fn = receiver}),
                            std::make_shared<FinalExporter>(FinalExporter::Options{
                                .name = "final", .serving_input_receiver_fn = receiver})},
              .throttle_secs = std::atof(arguments[2].c_str())})
      .status();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv,
                             "train_and_evaluate_tool MODEL_DIR MAX_STEPS THROTTLE_SECS "
                             "STOP_BELOW MEMORY_EVERY",
                             estimator::Run);
}
