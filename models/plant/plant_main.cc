// Plant Pathology 2020: which of four labels a picture of an apple leaf has, none, one or several.
// A record has a JPEG file, an integer of 0 or 1 for each label, and the name of the picture. The
// number in the name of a file, such as train00-228.tfrec, is that of its records; for files with
// other names, give --examples_per_epoch.
//
//   plant_main --use_tpu=false --network=MobileNetV2 --image_size=64       with drawn pictures
//   plant_main --data_dir=$HOME/plant --weights=efficientnetb0_notop.h5 --model_dir=/tmp/plant
//              --submission_csv=/tmp/submission.csv
#include <gflags/gflags.h>

#include <string>
#include <vector>

#include "estimator/base/main.h"
#include "estimator/base/path.h"
#include "models/common/decode_and_resize.h"
#include "models/common/predictions_csv.h"
#include "models/common/record_run.h"
#include "models/common/run_flags.h"
#include "models/imagenet/drawn_pictures.h"
#include "models/images/networks.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(data_dir, "", "folder of {train,valid,test}*.tfrec; empty: drawn pictures");
DEFINE_string(network, "EfficientNetB0", "a network of models/images, such as MobileNetV2");
DEFINE_string(weights, "", "the network's first values: a checkpoint or a file of Keras'");
DEFINE_int64(image_size, 224, "rows and columns of an image");
DEFINE_int64(batch_size, 16, "pictures in a batch of each replica");
DEFINE_int64(epochs, 10, "epochs of the training");
DEFINE_string(submission_csv, "", "write the predictions of the test pictures to this file");

namespace estimator::plant {
namespace {

using Params = tpu::Params;
const std::vector<std::string> kTargets = {"healthy", "multiple_diseases", "rust", "scab"};

MetricMap Metrics(const Tensor& labels, const Tensor& probabilities) {
  return metrics::AucByLabel(labels, probabilities, kTargets);
}

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Labels& labels, Mode mode,
                              const Params&) {
  const images::NetworkEntry network = *images::FindNetwork(FLAGS_network);
  images::NetworkOptions options{.training = mode == Mode::kTrain, .include_top = false};
  options.pooling = images::Pooling::kAvg;
  if (mode == Mode::kTrain) options.weights = FLAGS_weights;
  const Tensor x = network.build(network.preprocess(features["image"]), options);
  const Tensor logits = layers::Dense(x, {.units = 4}), p = Sigmoid(logits);
  if (mode == Mode::kPredict) return tpu::TPUEstimatorSpec::Predict({{"probabilities", p}});
  const auto& t = kTargets;
  const Tensor targets = Stack({labels[t[0]], labels[t[1]], labels[t[2]], labels[t[3]]}, 1);
  const Tensor loss = losses::SigmoidCrossEntropy(targets, logits);
  if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss, {Metrics, {targets, p}});
  tpu::CrossShardOptimizer adam(train::Adam(1e-3, {.epsilon = 1e-7}));
  return tpu::TPUEstimatorSpec::Train(loss, adam.Minimize(loss),
                                      {.eval_metrics = {Metrics, {targets, p}}});
}

// The files of the test have no labels. Their names pass beside the model, which takes no strings.
absl::StatusOr<Dataset> Input(const Params& params, Mode mode) {
  const auto part = static_cast<size_t>(mode);
  const std::vector<std::string> none, names(mode == Mode::kPredict ? 1 : 0, "image_name");
  const int64_t drawn[] = {0, 480, 600, 720};
  Dataset examples = imagenet::DrawnMultiLabelExamples(3, drawn[part], drawn[part + 1], kTargets);
  if (!FLAGS_data_dir.empty()) {
    const char* const patterns[] = {"train*.tfrec", "valid*.tfrec", "test*.tfrec"};
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                         MatchFiles(JoinPath(FLAGS_data_dir, patterns[part])));
    const FixedLenFeature string{.dtype = DType::kString}, integer{.dtype = DType::kInt64};
    FeatureSpecs specs = {{"image", string}, {"image_name", string}};
    for (const std::string& label : names.empty() ? kTargets : none) specs[label] = integer;
    examples = TFRecordDataset(files).Map(ParseExample(specs, names.empty() ? kTargets : none));
  }
  if (mode == Mode::kTrain) {
    examples = examples.Shuffle(2048).Repeat().Shard(
        params.context.num_hosts, params.context.current_host, params.batch_size);
  }
  return DecodeAndResize(examples, {FLAGS_image_size, FLAGS_image_size}, names)
      .Batch(params.batch_size, {.drop_remainder = mode == Mode::kTrain});
}

absl::Status Run() {
  const int64_t batch_size = FLAGS_batch_size * NumReplicasFromFlags();
  const absl::Status network = images::FindNetwork(FLAGS_network).status();
  EST_RETURN_IF_ERROR(RequireFlags({StatusRequirement("network", network)}));
  tpu::TPUEstimator<Params>::Options options{.model_fn = ModelFn, .config = RunConfigFromFlags()};
  options.use_tpu = FLAGS_use_tpu;
  options.train_batch_size = options.eval_batch_size = options.predict_batch_size = batch_size;
  tpu::TPUEstimator<Params> estimator(options);
  const auto input = [](Mode mode) { return [=](const Params& p) { return Input(p, mode); }; };
  EpochOptions<Params> epochs{.epochs = FLAGS_epochs, .validation_input_fn = input(Mode::kEval)};
  epochs.hooks = {RecordRunHook()};
  EST_RETURN_IF_ERROR(estimator.TrainEpochs(input(Mode::kTrain), epochs).status());
  EST_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(input(Mode::kEval)));
  ChiefOutput() << EvaluationTable(result);
  EST_RETURN_IF_ERROR(RecordExamples(estimator, input(Mode::kEval), {.classes = kTargets}));
  if (FLAGS_submission_csv.empty()) return absl::OkStatus();
  Predictions rows = estimator.Predict(input(Mode::kPredict), {.pass_features = {"image_name"}});
  const std::vector<PredictionColumns> columns = {{.names = {"image_id"}, .key = "image_name"},
                                                  {.names = kTargets, .key = "probabilities"}};
  const auto next = [&] { return rows.Next(); };
  return WritePredictionsCsv(FLAGS_submission_csv, next, {.columns = columns}).status();
}

}  // namespace
}  // namespace estimator::plant

int main(int argc, char** argv) {
  gflags::SetUsageMessage("predicts four labels of pictures of apple leaves");
  return estimator::Main(argc, argv, estimator::plant::Run);
}
