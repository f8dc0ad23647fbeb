#include "models/imagenet/resnet_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/ops/check_range.h"

namespace estimator::imagenet {
namespace {

// Of ImageNet's training images, red, green and blue, for values of 0 to 1.
constexpr double kMeanRgb[] = {0.485, 0.456, 0.406};
constexpr double kStddevRgb[] = {0.229, 0.224, 0.225};

// Returns a constant [1, 1, 3] for values of 0 to 255.
Tensor Rgb(const double (&values)[3]) {
  return Constant(Array::Of<float>(
      {1, 1, 3}, {static_cast<float>(values[0] * 255), static_cast<float>(values[1] * 255),
                  static_cast<float>(values[2] * 255)}));
}

Tensor Logits(const Tensor& images, Mode mode, const ResnetParams& params) {
  const Tensor x = (Cast(images, DType::kFloat32) - Rgb(kMeanRgb)) / Rgb(kStddevRgb);
  return Cast(Resnet(Cast(x, params.compute_dtype), mode, params.network), DType::kFloat32);
}

Tensor WeightDecay(double weight_decay) {
  std::vector<Tensor> penalties;
  for (const Variable& variable : Graph::Current().TrainableVariables()) {
    if (!absl::StrContains(variable.name(), "batch_normalization"))
      penalties.push_back(L2Loss(variable));
  }
  return AddN(penalties) * weight_decay;
}

MetricMap MetricFn(const Tensor& labels, const Tensor& logits) {
  const Tensor predictions = ArgMax(logits, 1, {.output_type = DType::kInt32});
  const int64_t k = std::min<int64_t>(5, logits.dim(1));
  return {{"top_1_accuracy", metrics::Accuracy(labels, predictions)},
          {"top_5_accuracy", metrics::InTopK(labels, logits, k)}};
}

std::shared_ptr<train::Optimizer> MakeOptimizer(const Tensor& learning_rate,
                                                const ResnetParams& params) {
  if (!params.enable_lars) {
    return std::make_shared<train::Momentum>(learning_rate, params.momentum,
                                             train::MomentumOptions{.use_nesterov = true});
  }
  return std::make_shared<train::LARS>(
      learning_rate, train::LARSOptions{.momentum = params.momentum,
                                        .weight_decay = params.weight_decay,
                                        .skip_list = {"batch_normalization", "bias"}});
}

}  // namespace

tpu::TPUEstimatorSpec ResnetModelFn(const Features& features, const Labels& labels, Mode mode,
                                    const ResnetParams& params) {
  const Tensor images = features.has("image") ? features["image"] : Tensor(features);
  const Tensor logits = Logits(images, mode, params);
  if (mode == Mode::kPredict) {
    std::map<std::string, Tensor> predictions = {
        {"classes", ArgMax(logits, 1)}, {"probabilities", Softmax(logits, -1, "softmax_tensor")}};
    if (features.has("example_id")) predictions["example_id"] = features["example_id"];
    return tpu::TPUEstimatorSpec::Predict(std::move(predictions));
  }
  const Tensor label = Cast(Tensor(labels), DType::kInt32);
  const int64_t num_classes = params.network.num_label_classes;
  const Tensor one_hot = OneHot(
      CheckRange(label, {.high = static_cast<float>(num_classes - 1),
                         .what = "the label",
                         .cure = "num_label_classes must be the number of classes of the data"}),
      num_classes);
  Tensor loss =
      losses::SoftmaxCrossEntropy(one_hot, logits, {.label_smoothing = params.label_smoothing});
  if (!params.enable_lars) loss = loss + WeightDecay(params.weight_decay);
  if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss, {MetricFn, {label, logits}});

  const Schedule schedule = params.enable_lars ? PolynomialLearningRate(params.learning_rate)
                                               : StepLearningRate(params.learning_rate);
  const Tensor learning_rate = schedule.Build();
  if (!params.skip_host_call) {
    const Tensor step = Cast(GetOrCreateGlobalStep(), DType::kFloat32);
    summary::Scalar("learning_rate", learning_rate);
    summary::Scalar("current_epoch", CurrentEpoch(step, params.learning_rate));
  }
  auto optimizer = MakeOptimizer(learning_rate, params);
  if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
  return tpu::TPUEstimatorSpec::Train(loss, optimizer->Minimize(loss));
}

ServingInputReceiverFn ResnetServingInput(int64_t image_size) {
  return BuildRawServingInputReceiverFn(
      {{"image", {DType::kFloat32, {-1, image_size, image_size, 3}}}});
}

}  // namespace estimator::imagenet
