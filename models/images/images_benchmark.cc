// Measures the training of a network of this folder on images that are made once, and prints one
// line of JSON:
//
//   images_benchmark --use_tpu=false --network=MobileNetV2 --image_size=160
//   images_benchmark --use_tpu=false --network=EfficientNetB0 --compute_dtype=bfloat16
//
// A step is softmax cross entropy and Momentum, without weight decay and summaries; drop-connect
// and dropout are on. tools/peers/tf_images.py does the same with Keras. docs/performance.md
// describes the fields.
#include <gflags/gflags.h>

#include <memory>
#include <utility>

#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_flags.h"
#include "models/common/benchmark_json.h"
#include "models/images/networks.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(network, "MobileNetV2",
              "a network of models/images by Keras' name, such as EfficientNetB0");
DEFINE_int64(batch_size, 32, "images in one step; on replicas: over all of them");
DEFINE_int64(image_size, 0, "rows and columns of an image; 0: those of the network's publication");
DEFINE_int64(num_label_classes, 1000, "classes");

namespace estimator::images {
namespace {

struct BenchmarkParams : tpu::Params {
  NetworkEntry network;
  NetworkOptions options;
  DType compute_dtype = DType::kFloat32;
};

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const BenchmarkParams& params) {
  const Tensor images = Cast(params.network.preprocess(features["image"]), params.compute_dtype);
  NetworkOptions options = params.options;
  options.training = mode == Mode::kTrain;
  const Tensor logits = Cast(params.network.build(images, options), DType::kFloat32);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  std::shared_ptr<train::Optimizer> optimizer = std::make_shared<train::Momentum>(0.01, 0.9);
  if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
  return tpu::TPUEstimatorSpec::Train(loss, optimizer->Minimize(loss));
}

// One batch of random images and labels, again and again.
Dataset SyntheticInput(int64_t batch_size, int64_t image_size) {
  Array images(DType::kUint8, {batch_size, image_size, image_size, 3});
  uint64_t state = 1;
  for (uint8_t& value : images.values<uint8_t>()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<uint8_t>(state >> 56);
  }
  Array labels(DType::kInt32, {batch_size});
  for (int64_t i = 0; i < batch_size; ++i)
    labels.values<int32_t>()[i] = static_cast<int32_t>(i * 7919 % FLAGS_num_label_classes);
  return Dataset::FromTensors({.features = {{"image", std::move(images)}}, .labels = labels})
      .Repeat();
}

absl::Status Run() {
  const absl::StatusOr<NetworkEntry> network = FindNetwork(FLAGS_network);
  EST_RETURN_IF_ERROR(
      RequireBenchmarkFlags({BatchRequirement("batch_size", FLAGS_batch_size),
                             StatusRequirement("network", network.status()),
                             {"num_label_classes", FLAGS_num_label_classes > 0, "positive"},
                             {"image_size", FLAGS_image_size >= 0, "positive, or 0"}}));
  const int64_t image_size = FLAGS_image_size > 0 ? FLAGS_image_size : network->image_size;
  BenchmarkParams params;
  params.network = *network;
  params.options.classes = FLAGS_num_label_classes;
  params.compute_dtype = ComputeDTypeFromFlags();
  tpu::TPUEstimator<BenchmarkParams> classifier({.model_fn = ModelFn,
                                                 .config = BenchmarkRunConfig(),
                                                 .params = params,
                                                 .use_tpu = FLAGS_use_tpu,
                                                 .train_batch_size = FLAGS_batch_size});
  const InputFn input = classifier.Input([image_size](const BenchmarkParams& params) {
    return SyntheticInput(params.batch_size, image_size);
  });
  EST_ASSIGN_OR_RETURN(const ReportFields measured, MeasureTraining(classifier, input, "images"));
  PrintBenchmark("images_benchmark",
                 {{"network", network->name},
                  {"image_size", image_size},
                  {"batch_size", FLAGS_batch_size},
                  {"compute_dtype", FLAGS_compute_dtype},
                  {"use_tpu", static_cast<int64_t>(FLAGS_use_tpu)},
                  {"input", "synthetic"}},
                 measured);
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::images

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of a network and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::images::Run);
}
