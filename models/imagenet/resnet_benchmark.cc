// Measures the training of a ResNet on images that are made once, and prints one line of JSON:
//
//   resnet_benchmark --use_tpu=false                                   ResNet-50, batch 32, 224x224
//   resnet_benchmark --use_tpu=false --resnet_version=1.5 --compute_dtype=bfloat16
//
// A step is what TensorFlow's and PyTorch's benchmarks do: softmax cross entropy and Momentum,
// without weight decay and summaries. docs/performance.md describes the fields.
#include <gflags/gflags.h>

#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "models/common/benchmark_flags.h"
#include "models/imagenet/resnet.h"
#include "tpu/tpu_estimator.h"

DEFINE_int64(batch_size, 32, "images in one step; on replicas: over all of them");
DEFINE_int64(resnet_depth, 50, "18, 34, 50, 101, 152 or 200");
DEFINE_string(resnet_version, "1",
              "1: the stride of a block is in its first convolution, as in Keras; 1.5: in its 3x3 "
              "convolution, as in PyTorch");
DEFINE_int64(image_size, 224, "rows and columns of an image");
DEFINE_int64(num_label_classes, 1000, "classes");

namespace estimator::imagenet {
namespace {

struct BenchmarkParams : tpu::Params {
  ResnetOptions network;
  DType compute_dtype = DType::kFloat32;
};

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const BenchmarkParams& params) {
  const Tensor images = Cast(features["image"], params.compute_dtype);
  const Tensor logits = Cast(Resnet(images, mode, params.network), DType::kFloat32);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return TrainByMomentum(loss, 0.1, params.use_tpu);
}

absl::Status Run() {
  const absl::StatusOr<ResnetVersion> version = ParseResnetVersion(FLAGS_resnet_version);
  BenchmarkParams params;
  params.network.resnet_depth = static_cast<int>(FLAGS_resnet_depth);
  if (version.ok()) params.network.resnet_version = *version;
  params.network.num_label_classes = FLAGS_num_label_classes;
  EST_RETURN_IF_ERROR(
      RequireBenchmarkFlags({BatchRequirement("batch_size", FLAGS_batch_size),
                             StatusRequirement("resnet_version", version.status()),
                             StatusRequirement("resnet_depth", CheckResnetOptions(params.network)),
                             {"num_label_classes", FLAGS_num_label_classes > 0, "positive"},
                             {"image_size", FLAGS_image_size > 0, "positive"}}));
  params.compute_dtype = ComputeDTypeFromFlags();
  return RunTrainingBenchmark<BenchmarkParams>(
      {.program = "resnet_benchmark",
       .unit = "images",
       .model_fn = ModelFn,
       .params = params,
       .batch_size = FLAGS_batch_size,
       .input =
           [](const BenchmarkParams& params) {
             return SyntheticImages(DType::kFloat32, params.batch_size, FLAGS_image_size,
                                    FLAGS_num_label_classes);
           },
       .run = {{"resnet_depth", FLAGS_resnet_depth},
               {"resnet_version", FLAGS_resnet_version},
               {"image_size", FLAGS_image_size}}});
}

}  // namespace
}  // namespace estimator::imagenet

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of a ResNet and prints one line of JSON");
  return estimator::Main(argc, argv, estimator::imagenet::Run);
}
