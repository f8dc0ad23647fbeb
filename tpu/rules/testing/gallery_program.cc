#include "tpu/rules/testing/gallery_program.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/testing/temp_dir.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kExamples = 2048;
constexpr int64_t kFeatures = 128;
constexpr int64_t kTunedBatch = 1024;  // the batch that the learning rate is for

MetricMap Accuracy(const std::vector<Tensor>& tensors) {
  return {{"accuracy",
           metrics::Accuracy(tensors[0], ArgMax(tensors[1], 1, {.output_type = DType::kInt32}))}};
}

TPUEstimatorSpec GalleryModel(const GalleryProgram& program, const Features& features,
                              const Labels& labels, Mode mode, const Params& params) {
  Tensor hidden = layers::Dense(
      features["x"],
      {.units = program.units, .activation = [](const Tensor& x) { return Relu(x); }});
  if (program.layer) hidden = program.layer(hidden, features, mode, params);
  const Tensor logits = layers::Dense(hidden, {.units = kFeatures});
  if (mode == Mode::kPredict) {
    if (program.predictions) return TPUEstimatorSpec::Predict(program.predictions(logits));
    return TPUEstimatorSpec::Predict({{"probabilities", Softmax(logits)}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    std::vector<Tensor> tensors = {labels, logits};
    if (program.scalar_metric) tensors.push_back(loss);
    return TPUEstimatorSpec::Eval(loss, {Accuracy, tensors});
  }
  const double rate = program.scale_rate
                          ? 0.1 * static_cast<double>(params.batch_size) *
                                params.context.num_replicas / static_cast<double>(kTunedBatch)
                          : 0.1;
  TPUEstimatorSpecOptions options;
  if (program.host_call) options.host_call = program.host_call(loss);
  if (program.scaffold) {
    options.scaffold_fn = [scaffold = program.scaffold, hidden] { return scaffold(hidden); };
  }
  return TPUEstimatorSpec::Train(loss, program.train_op(loss, rate), std::move(options));
}

}  // namespace

Element GalleryExamples(const std::map<std::string, Array>& more) {
  Element element = {.features = {{"x", Array(DType::kFloat32, {kExamples, kFeatures})}},
                     .labels = Array(DType::kInt32, {kExamples})};
  for (const auto& [name, array] : more) element.features[name] = array;
  return element;
}

GalleryProgram::InputFnType GalleryInput(const std::map<std::string, Array>& more) {
  return [examples = GalleryExamples(more)](const Params& params) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensorSlices(examples).Repeat().Batch(params.batch_size,
                                                              {.drop_remainder = true});
  };
}

GalleryProgram::GalleryProgram() : input(GalleryInput()) {
  train_op = [](const Tensor& loss, double rate) {
    return CrossShardOptimizer(train::Momentum(rate, 0.9)).Minimize(loss);
  };
  options.config.tpu_config = {.iterations_per_loop = 100, .num_shards = 8};
  options.config.tpu_config.check = "rules";
  options.train_batch_size = 1024;
  options.eval_batch_size = 1024;
  options.predict_batch_size = 1024;
}

GalleryReport CheckGalleryProgram(const GalleryProgram& program) {
  const TempDir dir;
  TPUEstimator<>::Options options = program.options;
  options.config.model_dir = dir.File("m");
  options.model_fn = [program](const Features& features, const Labels& labels, Mode mode,
                               const Params& params) {
    return GalleryModel(program, features, labels, mode, params);
  };
  TPUEstimator<> estimator(options);
  GalleryReport report;
  ::testing::internal::CaptureStdout();
  report.status = estimator.Train(program.input, program.length);
  report.text = ::testing::internal::GetCapturedStdout();
  for (absl::string_view line : absl::StrSplit(report.text, '\n')) {
    if (!absl::ConsumePrefix(&line, "violation [") && !absl::ConsumePrefix(&line, "note ["))
      continue;
    report.rule_ids.emplace_back(line.substr(0, line.find(']')));
  }
  return report;
}

}  // namespace estimator::tpu
