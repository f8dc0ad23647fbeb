// Trains, evaluates and uses a small network on MNIST, with Estimator. mnist_tpu.cc is the same
// program with TPUEstimator: read both side by side.
//
//   mnist                                                with drawn digits
//   mnist --data_dir=$HOME/mnist --model_dir=/tmp/mnist  with MNIST
#include <gflags/gflags.h>

#include "estimator/base/main.h"
#include "estimator/estimator.h"
#include "models/common/run_config_flags.h"
#include "models/mnist/mnist_data.h"
#include "models/mnist/mnist_program.h"
#include "models/mnist/network.h"

namespace estimator {
namespace {

struct MnistParams : EstimatorParams {
  mnist::OptimizerOptions optimizer;
};

MetricMap TestMetrics(const Tensor& labels, const Tensor& logits) {
  return {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, 1))}};
}

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                      const MnistParams& params) {
  const Tensor logits = mnist::Inference(features["image"], mode);  // f32 [N, 10]
  if (mode == Mode::kPredict) {
    return EstimatorSpec::Predict(
        {{"class_ids", ArgMax(logits, 1)}, {"probabilities", Softmax(logits)}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return EstimatorSpec::Eval(loss, TestMetrics(labels, logits));
  }
  const auto optimizer = mnist::MakeOptimizer(params.optimizer);
  return EstimatorSpec::Train(loss, optimizer->Minimize(loss));
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(RequireRunConfigFlags(
      mnist::FlagRequirements({"batch_size", FLAGS_batch_size > 0, "positive"})));
  EST_ASSIGN_OR_RETURN(const mnist::MnistData data,
                       mnist::LoadMnist(FLAGS_data_dir, FLAGS_batch_size,
                                        {.skip_bad_records = FLAGS_skip_bad_records}));
  MnistParams params;
  params.batch_size = FLAGS_batch_size;
  params.optimizer = mnist::OptimizerFromFlags();
  Estimator<MnistParams> estimator(
      {.model_fn = ModelFn, .config = EstimatorRunConfigFromFlags(), .params = params});
  return mnist::TrainEvaluateAndPredict(estimator, data);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains a network on MNIST with Estimator, evaluates it and predicts");
  return estimator::Main(argc, argv, estimator::Run);
}
