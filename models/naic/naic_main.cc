// The autoencoder of a guide to Keras on TPUs, with its callbacks: records of raw floats, a
// learning rate that falls on plateaus, the best model, a CSV log. docs/recipes.md explains it.
//
//   naic_main --use_tpu=false --model_dir=/tmp/naic                 on the CPU, with drawn data
//   naic_main --data_dir=$HOME/naic-dataset --model_dir=/tmp/naic   with its TFRecords
#include <gflags/gflags.h>

#include <random>

#include "estimator/base/main.h"
#include "models/common/run_flags.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(data_dir, "", "folder of tfrecords_train/ and tfrecords_test/; empty: drawn data");
DEFINE_int64(batch_size, 128, "examples in one step; on replicas: over all of them");
DEFINE_int64(epochs, 20, "epochs to train");
DEFINE_int64(shuffle_buffer, 10000, "examples that are shuffled; 1: none");
DEFINE_int64(steps_per_epoch, 4, "batches of an epoch, and of a validation");
DEFINE_double(learning_rate, 1e-2, "initial learning rate");

namespace estimator {
namespace {

constexpr int64_t kBits = 64;  // of an example, as floats

MetricMap Metrics(const Tensor& labels, const Tensor& logits) {
  return {{"accuracy", metrics::BinaryAccuracy(labels, logits, {.threshold = 0})}};
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode) {
  const Tensor code = layers::Dense(features["x"], {.units = 24, .activation = Tanh});
  const Tensor logits = layers::Dense(code, {.units = kBits});
  const tpu::EvalMetrics metrics = {Metrics, {labels, logits}};
  const Tensor loss = losses::SigmoidCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss, metrics);
  tpu::CrossShardOptimizer optimizer{train::AdaBelief(FLAGS_learning_rate)};
  return tpu::TPUEstimatorSpec::Train(loss, optimizer.Minimize(loss), {.eval_metrics = metrics});
}

absl::StatusOr<Element> Decode(const Element& record) {
  EST_ASSIGN_OR_RETURN(const Array x, DecodeRaw(record.features.at("x"), DType::kFloat32));
  EST_ASSIGN_OR_RETURN(const Array y, DecodeRaw(record.features.at("y"), DType::kFloat32));
  return Element{.features = {{"x", x}}, .labels = y};
}

// Groups of four equal bits with errors, so that a code of fewer numbers has most of them.
Element Draw(const Element& index) {
  std::mt19937 random(static_cast<uint32_t>(index.features.at("").scalar<int64_t>()));
  Array bits(DType::kFloat32, {kBits});
  for (int64_t i = 0, group = random(); i < kBits; ++i)
    bits.data<float>()[i] = static_cast<float>(((group >> (i / 4)) & 1) ^ (random() % 16 == 0));
  return Element{.features = {{"x", bits}}, .labels = bits};
}

// The input_fn of a folder, or of numbers from `first` on to draw examples from.
auto Input(const std::string& folder, int64_t first) {
  return [=](const tpu::Params& params) {
    const FixedLenFeature bytes = {.dtype = DType::kString};
    Dataset examples = Dataset::Range(first, first + 2048).Map(Draw);
    if (!FLAGS_data_dir.empty())
      examples = TFRecordDataset({JoinPath(FLAGS_data_dir, folder, "*.tfrecords")})
                     .Map(ParseExample({{"x", bytes}, {"y", bytes}}))
                     .Map(Decode);
    return examples.Shuffle(FLAGS_shuffle_buffer)
        .Repeat()
        .Shard(params.context.num_hosts, params.context.current_host, params.batch_size)
        .Batch(params.batch_size, {.drop_remainder = true});
  };
}

absl::Status Run() {
  EST_RETURN_IF_ERROR(RequireFlags({BatchRequirement("batch_size", FLAGS_batch_size)}));
  tpu::TPUEstimator<> estimator({.model_fn = ModelFn,
                                 .config = RunConfigFromFlags(),
                                 .use_tpu = FLAGS_use_tpu,
                                 .train_batch_size = FLAGS_batch_size,
                                 .eval_batch_size = FLAGS_batch_size});
  const std::string dir = estimator.model_dir() + "/";
  const HookPtr plateau = callbacks::ReduceLROnPlateau(
      {.monitor = "loss", .factor = 0.666, .patience = 3, .verbose = 1, .min_lr = 1e-5});
  const HookPtr best = callbacks::ModelCheckpoint(
      dir + "best/ep{epoch:03d}_loss{loss:.4f}_val-loss{val_loss:.4f}_val-acc{val_accuracy:.4f}.h5",
      {.monitor = "loss", .save_best_only = true});
  const HookPtr log = callbacks::CSVLogger(dir + "log.csv", {.append = true});
  const HookPtr stop = callbacks::EarlyStopping({.patience = 9, .restore_best_weights = true});
  return estimator
      .TrainEpochs(Input("tfrecords_train", 0),
                   {.epochs = FLAGS_epochs,
                    .steps_per_epoch = FLAGS_steps_per_epoch,
                    .validation_input_fn = Input("tfrecords_test", 10000),
                    .validation_steps = FLAGS_steps_per_epoch,
                    .hooks = {plateau, best, log, stop}})
      .status();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains the autoencoder of a guide, with Keras' callbacks");
  return estimator::Main(argc, argv, estimator::Run);
}
