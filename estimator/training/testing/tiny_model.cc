#include "estimator/training/testing/tiny_model.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/nn/layers/core.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

Element TinyExamples(int64_t num_examples) {
  Array x(DType::kFloat32, {num_examples, 2}), y(DType::kFloat32, {num_examples, 1});
  for (int64_t i = 0; i < num_examples; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(num_examples);
    x.data<float>()[2 * i] = static_cast<float>(t);
    x.data<float>()[2 * i + 1] = static_cast<float>(std::cos(3 * t));
    y.data<float>()[i] = static_cast<float>(1 + std::sin(2 * t));
  }
  return {.features = {{"x", x}}, .labels = y};
}

Dataset TinyDataset(int64_t batch_size, int64_t num_examples) {
  return Dataset::FromTensorSlices(TinyExamples(num_examples)).Batch(batch_size);
}

Tensor TinyNetwork(const Features& features, bool training, double dropout, int64_t hidden_units) {
  const Tensor hidden =
      layers::Dense(features["x"],
                    {.units = hidden_units, .activation = [](const Tensor& x) { return Relu(x); }});
  const Tensor kept =
      dropout > 0 ? layers::Dropout(hidden, {.rate = dropout, .training = training}) : hidden;
  return layers::Dense(kept, {.units = 1});
}

Tensor TinyLoss(const Tensor& labels, const Tensor& predictions) {
  return Identity(losses::MeanSquaredError(labels, predictions), "tiny_loss");
}

EstimatorSpec TinyModel(const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
  const Tensor y = TinyNetwork(features, mode == Mode::kTrain, params.dropout, params.hidden_units);
  if (mode == Mode::kPredict)
    return EstimatorSpec::Predict({{"y", y}, {"twice", Multiply(y, 2.0)}});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval)
    return EstimatorSpec::Eval(loss, {{"mae", metrics::MeanAbsoluteError(labels, y)}});
  return EstimatorSpec::Train(loss, train::Momentum(params.learning_rate, 0.9).Minimize(loss));
}

RunConfig TinyConfig(const std::string& model_dir) {
  RunConfig config;
  config.model_dir = model_dir;
  config.tf_random_seed = 7;
  config.save_checkpoints_steps = 5;
  config.save_summary_steps = std::nullopt;
  config.log_step_count_steps = std::nullopt;
  config.checkpoint_save_graph_def = false;
  return config;
}

Estimator<TinyParams>::Options TinyOptions(const std::string& model_dir) {
  return {.model_fn = TinyModel, .config = TinyConfig(model_dir), .params = {}};
}

absl::Status RunRecorder::Begin(Graph& graph) {
  ++num_begins;
  loss_ = graph.FindTensor("tiny_loss");
  return absl::OkStatus();
}

std::vector<Tensor> RunRecorder::BeforeRun(RunContext&) {
  return loss_.valid() ? std::vector<Tensor>{loss_} : std::vector<Tensor>();
}

absl::Status RunRecorder::AfterRun(RunContext&, const RunValues& values) {
  steps.push_back(values.global_step);
  if (!values.results.empty()) losses.push_back(values.results[0].AsDouble());
  return absl::OkStatus();
}

absl::Status RunRecorder::End(Session&) {
  ++num_ends;
  return absl::OkStatus();
}

absl::StatusOr<std::string> CheckpointBits(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  std::string bits;
  for (const std::string& name : reader->names()) {
    EST_ASSIGN_OR_RETURN(const Array value, reader->Read(name));
    absl::StrAppend(&bits, name, ": ", value.TypeString(), " ",
                    absl::string_view(static_cast<const char*>(value.raw()), value.num_bytes()),
                    "\n");
  }
  return bits;
}

}  // namespace estimator
