// The tiny model of estimator/training/testing, for TPUEstimator.
#ifndef TPU_TESTING_TINY_TPU_MODEL_H_
#define TPU_TESTING_TINY_TPU_MODEL_H_

#include <string>

#include "estimator/training/testing/tiny_model.h"
#include "tpu/tpu_estimator.h"

namespace estimator::tpu {

using TinyTPUEstimator = TPUEstimator<Params>;

// `mae` and `mean`.
inline MetricMap TinyMetrics(const Tensor& labels, const Tensor& predictions) {
  return {{"mae", metrics::MeanAbsoluteError(labels, predictions)},
          {"mean", metrics::Mean(predictions)}};
}

inline TPUEstimatorSpec TinyTPUModel(const Features& features, const Labels& labels, Mode mode,
                                     const Params&) {
  const Tensor y = TinyNetwork(features, mode == Mode::kTrain, /*dropout=*/0);
  if (mode == Mode::kPredict) return TPUEstimatorSpec::Predict({{"y", y}});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {labels, y}});
  return TPUEstimatorSpec::Train(loss,
                                 CrossShardOptimizer(train::Momentum(0.02, 0.9)).Minimize(loss));
}

// Options that log little and save checkpoints only at the start and the end. All batch sizes are
// 8.
//   num_shards: 0 means use_tpu = false.
inline TinyTPUEstimator::Options TinyTPUOptions(const std::string& model_dir, int num_shards,
                                                int iterations_per_loop = 1) {
  RunConfig config;
  static_cast<estimator::RunConfig&>(config) = TinyConfig(model_dir);
  config.save_checkpoints_steps = 1000000;
  config.tpu_config.iterations_per_loop = iterations_per_loop;
  if (num_shards > 0) config.tpu_config.num_shards = num_shards;
  return {.model_fn = TinyTPUModel,
          .config = config,
          .params = {},
          .use_tpu = num_shards > 0,
          .train_batch_size = 8,
          .eval_batch_size = 8,
          .predict_batch_size = 8};
}

inline Dataset TinyTrainInput(const Params& params) {
  return TinyDataset(params.batch_size, 24).Repeat();
}
inline Dataset TinyEvalInput(const Params& params) { return TinyDataset(params.batch_size); }

}  // namespace estimator::tpu

#endif  // TPU_TESTING_TINY_TPU_MODEL_H_
