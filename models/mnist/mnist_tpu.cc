// Trains, evaluates and uses a small network on MNIST, with TPUEstimator. mnist.cc is the same
// program with Estimator: read both side by side.
//
//   mnist_tpu --use_tpu=false                                on the CPU, with drawn digits
//   mnist_tpu --data_dir=$HOME/mnist --model_dir=/tmp/mnist  on eight replicas, with MNIST
#include <gflags/gflags.h>

#include "estimator/base/main.h"
#include "models/common/run_flags.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/mnist_program.h"
#include "models/mnist/network.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

struct MnistParams : tpu::Params {
  mnist::OptimizerOptions optimizer;
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
  auto optimizer = mnist::MakeOptimizer(params.optimizer);
  if (params.use_tpu) optimizer = tpu::CrossShardOptimizer(optimizer);
  return tpu::TPUEstimatorSpec::Train(loss, optimizer->Minimize(loss));
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(
      RequireFlags(mnist::FlagRequirements(BatchRequirement("batch_size", FLAGS_batch_size))));
  EST_ASSIGN_OR_RETURN(const mnist::MnistData data,
                       mnist::LoadMnist(FLAGS_data_dir, FLAGS_batch_size,
                                        {.skip_bad_records = FLAGS_skip_bad_records}));
  MnistParams params;
  params.optimizer = mnist::OptimizerFromFlags();
  tpu::TPUEstimator<MnistParams> estimator({.model_fn = ModelFn,
                                            .config = RunConfigFromFlags(),
                                            .params = params,
                                            .use_tpu = FLAGS_use_tpu,
                                            .train_batch_size = FLAGS_batch_size,
                                            .eval_batch_size = FLAGS_batch_size,
                                            .predict_batch_size = FLAGS_batch_size});
  return mnist::TrainEvaluateAndPredict(estimator, data);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains a network on MNIST with TPUEstimator, evaluates it and predicts");
  return estimator::Main(argc, argv, estimator::Run);
}
