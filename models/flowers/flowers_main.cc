// Fine-tunes a network of models/images on five kinds of flowers, as a Keras program for TPUs does:
// batches and rates by the number of replicas, and a callback that sets the rate of each epoch.
//
//   flowers_main --use_tpu=false --network=MobileNetV2 --image_size=64     with drawn pictures
//   flowers_main --data_dir=$HOME/flowers --weights=xception_notop.h5 --model_dir=/tmp/flowers
//
// README.md shows it beside the Keras program.
#include <gflags/gflags.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "estimator/base/main.h"
#include "models/common/record_run.h"
#include "models/common/run_flags.h"
#include "models/imagenet/labelled_images.h"
#include "models/images/networks.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(data_dir, "", "folder of *.tfrec files with image and class; empty: drawn pictures");
DEFINE_string(network, "Xception", "a network of models/images, such as MobileNetV2");
DEFINE_string(weights, "", "first values of the network: a checkpoint or a file of Keras'");
DEFINE_int64(image_size, 331, "rows and columns of an image");
DEFINE_int64(epochs, 12, "epochs of the training");
DEFINE_bool(augment, true, "mirror, recolor and shuffle training images");
DEFINE_string(save_weights, "", "write the weights here after each epoch, such as model.h5");

namespace estimator::flowers {
namespace {

const std::vector<std::string> kClasses = {"daisy", "dandelion", "roses", "sunflowers", "tulips"};

struct FlowersParams : tpu::Params {
  images::NetworkEntry network;
  // Those of one replica.
  int64_t train_batch_size = 16;
  double max_rate = 2e-4;
  double rampup_epochs = 5;
};

void SetByReplicas(int64_t replicas, FlowersParams& params) {
  if (replicas == 1) return;
  params.train_batch_size = (replicas == 8 ? 16 : 8) * replicas;
  params.max_rate = (replicas == 8 ? 5e-5 : 2e-5) * static_cast<double>(replicas);
  params.rampup_epochs = replicas == 8 ? 5 : 7;
}

double LearningRate(double epoch, const FlowersParams& params) {
  const double min_rate = 1e-5, range = params.max_rate - min_rate;
  if (epoch < params.rampup_epochs) return range / params.rampup_epochs * epoch + min_rate;
  return range * std::pow(0.8, epoch - params.rampup_epochs) + min_rate;
}

MetricMap Metrics(const Tensor& labels, const Tensor& logits) {
  return {{"accuracy", metrics::InTopK(labels, logits, 1)}};
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const FlowersParams& params) {
  const Tensor x = params.network.build(params.network.preprocess(features),
                                        {.training = mode == Mode::kTrain,
                                         .include_top = false,
                                         .pooling = images::Pooling::kAvg,
                                         .weights = mode == Mode::kTrain ? FLAGS_weights : ""});
  const Tensor logits = layers::Dense(x, {.units = 5});
  if (mode == Mode::kPredict)
    return tpu::TPUEstimatorSpec::Predict({{"probabilities", Softmax(logits)}});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  const tpu::EvalMetrics metrics = {Metrics, {labels, logits}};
  if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss, metrics);
  tpu::CrossShardOptimizer adam(train::Adam(1e-3, {.epsilon = 1e-7}));
  return tpu::TPUEstimatorSpec::Train(loss, adam.Minimize(loss), {.eval_metrics = metrics});
}

absl::StatusOr<imagenet::LabelledImages> Load(bool training) {
  return imagenet::LoadLabelledImages(
      {.data_dir = FLAGS_data_dir, .image_size = FLAGS_image_size, .classes = 5}, training);
}

absl::StatusOr<Dataset> TrainInput(const FlowersParams& params) {
  EST_ASSIGN_OR_RETURN(const imagenet::LabelledImages data, Load(/*training=*/true));
  const Dataset records = FLAGS_augment ? data.records.Shuffle(2048) : data.records;
  Dataset images = data.Decoded(records.Repeat().Shard(
      params.context.num_hosts, params.context.current_host, params.batch_size));
  if (FLAGS_augment) images = images.Map(imagenet::AugmentImage);
  return images.Batch(params.batch_size, {.drop_remainder = true});
}

absl::StatusOr<Dataset> ValidationInput(const FlowersParams& params) {
  EST_ASSIGN_OR_RETURN(const imagenet::LabelledImages data, Load(/*training=*/false));
  return data.Decoded(data.records).Batch(params.batch_size);
}

absl::Status Run() {
  const absl::StatusOr<images::NetworkEntry> network = images::FindNetwork(FLAGS_network);
  EST_RETURN_IF_ERROR(RequireFlags({StatusRequirement("network", network.status()),
                                    {"image_size", FLAGS_image_size > 0, "positive"}}));
  FlowersParams params;
  params.network = *network;
  SetByReplicas(NumReplicasFromFlags(), params);
  tpu::TPUEstimator<FlowersParams> classifier({.model_fn = ModelFn,
                                               .config = RunConfigFromFlags(),
                                               .params = params,
                                               .use_tpu = FLAGS_use_tpu,
                                               .train_batch_size = params.train_batch_size,
                                               .eval_batch_size = params.train_batch_size,
                                               .predict_batch_size = params.train_batch_size});
  EpochOptions<FlowersParams> options{.epochs = FLAGS_epochs,
                                      .validation_input_fn = ValidationInput};
  EST_ASSIGN_OR_RETURN(const imagenet::LabelledImages data, Load(/*training=*/true));
  EST_ASSIGN_OR_RETURN(options.steps_per_epoch, data.StepsPerEpoch(params.train_batch_size));
  options.hooks = {callbacks::LearningRateScheduler(
                       [params](int64_t epoch, double) {
                         return LearningRate(static_cast<double>(epoch), params);
                       },
                       {.verbose = 1}),
                   RecordRunHook()};
  if (!FLAGS_save_weights.empty()) {
    options.hooks.push_back(
        callbacks::ModelCheckpoint(FLAGS_save_weights, {.save_weights_only = true}));
  }
  EST_ASSIGN_OR_RETURN(const History history, classifier.TrainEpochs(TrainInput, options));
  const std::vector<double> accuracy = history["val_accuracy"];
  const auto last = accuracy.end() - std::min<std::ptrdiff_t>(5, std::ssize(accuracy));
  const double mean =
      std::accumulate(last, accuracy.end(), 0.0) / static_cast<double>(accuracy.end() - last);
  ChiefOutput() << "FINAL ACCURACY MEAN-5: " << mean << "\n";

  // Also draws the first nine pictures with their titles: examples.png in model_dir.
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> titles,
                       WriteExamples(classifier, ValidationInput, {.classes = kClasses}));
  for (const std::string& title : titles) ChiefOutput() << title << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::flowers

int main(int argc, char** argv) {
  gflags::SetUsageMessage("fine-tunes a network on five kinds of flowers");
  return estimator::Main(argc, argv, estimator::flowers::Run);
}
