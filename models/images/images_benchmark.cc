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

#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_flags.h"
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
  return TrainByMomentum(loss, 0.01, params.use_tpu);
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
  return RunTrainingBenchmark<BenchmarkParams>(
      {.program = "images_benchmark",
       .unit = "images",
       .model_fn = ModelFn,
       .params = params,
       .batch_size = FLAGS_batch_size,
       .input =
           [image_size](const BenchmarkParams& params) {
             return SyntheticImages(DType::kUint8, params.batch_size, image_size,
                                    FLAGS_num_label_classes);
           },
       .run = {{"network", network->name}, {"image_size", image_size}}});
}

}  // namespace
}  // namespace estimator::images

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of a network and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::images::Run);
}
