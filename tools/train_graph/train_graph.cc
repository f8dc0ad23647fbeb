// Trains a graph that TensorFlow's Estimator wrote, from its checkpoint, without its program:
//
//   train_graph --model_dir=DIR --show_input                     what the graph takes
//   train_graph --model_dir=DIR --input=npy:x.npy,y.npy --batch_size=128 --steps=1000
//   train_graph --meta=OLD/model.ckpt-5.meta --model_dir=NEW ... OLD stays as it is
//   train_graph --saved_model=DIR --model_dir=NEW ...            a SavedModel with its training
//   train_graph --model_dir=DIR --mode=eval --input=npy:x.npy,y.npy --batch_size=128
//   train_graph --model_dir=DIR --mode=export --predictions=logits=dense/BiasAdd:0 --export_dir=OUT
//
// described_input.h has the forms of --input, and feature_file.h that of --features.
// docs/zero_port.md is a walk through one folder.
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "estimator/training/import_model_fn.h"
#include "estimator/training/import_saved_model.h"
#include "models/common/group_flags.h"
#include "models/common/run_flags.h"
#include "tools/train_graph/described_input.h"
#include "tools/train_graph/model_folder.h"
#include "tpu/tpu_estimator.h"

DECLARE_int64(seed);

DEFINE_string(meta, "",
              "the graph, such as DIR/model.ckpt-1000.meta; empty: imported_graph.meta of "
              "--model_dir, or its newest .meta. Without --model_dir, trains in the file's folder");
DEFINE_string(saved_model, "",
              "instead of --meta: a SavedModel with the graphs `train`, `eval` or both, as "
              "experimental_export_all_saved_models writes it; it needs --model_dir, whose first "
              "checkpoint its variables become");
DEFINE_string(mode, "train", "train, eval or export");
DEFINE_int64(steps, 0, "steps to train; with --mode=eval: batches to evaluate, 0: all");
DEFINE_int64(batch_size, 0, "rows of a batch, over all replicas; 0: the graph's own");
DEFINE_string(
    input, "",
    "npy:FILE,FILE, idx:FILE,FILE, tfrecord:PATTERN or fixed:LOW..HIGH,VALUE, in the order "
    "that --show_input prints");
DEFINE_string(features, "", "how the Examples of --input=tfrecord: are parsed");
DEFINE_int64(shuffle, 10000,
             "elements of the buffer that shuffles the training input; 0: keeps the order. "
             "--mode=eval never shuffles");
DEFINE_bool(show_input, false, "print what the graph takes, and exit");
DEFINE_string(train_op, "",
              "the op that trains, or several, such as train_d,train_g of a GAN; empty: what runs "
              "all of the collection train_op, or else all updates of variables");
DEFINE_string(loss, "", "the tensor of the loss; empty: the one that the Estimator logged");
DEFINE_string(
    serving_signature, "",
    "of a SavedModel: what --mode=export writes; empty: serving_default, or the only one");
DEFINE_string(placeholders, "",
              "names of the tensors in the order of --input, such as x:0,y:0, for a graph whose "
              "placeholders have another order");
DEFINE_string(feed, "",
              "tensors that have the same value in each step, such as "
              "keep_prob:0=0.5,is_training:0=true,weights:0=FILE.npy: a number, true, false, or a "
              ".npy file with the whole tensor");
DEFINE_string(global_step, "",
              "the variable that has the step in checkpoints; empty: global_step, if it is an "
              "int64 that train_op updates, else the checkpoint's name");
DEFINE_string(predictions, "",
              "for --mode=export: NAME=TENSOR,NAME=TENSOR, such as logits=dense/BiasAdd:0; empty: "
              "the outputs of the SavedModel's serving signature");
DEFINE_int64(export_inputs, 0,
             "for --mode=export: a request has the first so many inputs, without labels; 0: all");
DEFINE_string(export_dir, "",
              "for --mode=export: the folder below which the SavedModel is written");

namespace estimator {
namespace {

// Parses the value of a flag, NAME=VALUE,NAME=VALUE.
//   form: of a pair, for messages.
absl::StatusOr<std::map<std::string, std::string>> ParsePairs(absl::string_view flag,
                                                              absl::string_view form,
                                                              const std::string& text) {
  std::map<std::string, std::string> pairs;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (words.size() != 2 || words[0].empty() || words[1].empty() ||
        !pairs.emplace(words[0], words[1]).second) {
      return UsageError(
          absl::StrCat("--", flag, ": '", part, "' is not ", form, ", or its name occurs twice"));
    }
  }
  return pairs;
}

absl::StatusOr<std::map<std::string, Array>> FeedsFromFlags() {
  EST_ASSIGN_OR_RETURN(const auto pairs, ParsePairs("feed", "TENSOR=VALUE", FLAGS_feed));
  std::map<std::string, Array> feeds;
  for (const auto& [tensor, word] : pairs) {
    double number = 0;
    if (word == "true" || word == "false") {
      feeds[tensor] = Array::Scalar(word == "true");
    } else if (absl::SimpleAtod(word, &number)) {
      feeds[tensor] = Array::Scalar(number);
    } else if (absl::EndsWith(word, ".npy")) {
      const absl::StatusOr<Array> array = LoadNpy(word);
      if (!array.ok()) return AsUsageError(Annotate(array.status(), "--feed"));
      feeds[tensor] = *array;
    } else {
      return UsageError(absl::StrCat("--feed: '", word, "' of ", tensor,
                                     " is no number, true, false or .npy file"));
    }
  }
  return feeds;
}

absl::StatusOr<TrainGraphOptions> GraphOptionsFromFlags() {
  TrainGraphOptions options = {.train_op = FLAGS_train_op,
                               .loss = FLAGS_loss,
                               .inputs = absl::StrSplit(FLAGS_placeholders, ',', absl::SkipEmpty()),
                               .global_step = FLAGS_global_step};
  EST_ASSIGN_OR_RETURN(options.feeds, FeedsFromFlags());
  return options;
}

// What prevents the import only with the sizes of a batch.
absl::Status PrintObstaclesOfSizes(const TrainGraph& graph) {
  const TrainGraphInfo& info = graph.info();
  const bool training = info.role == TrainGraphRole::kTrain;
  constexpr int64_t kRows = 8;  // for a graph that takes any
  const absl::StatusOr<int64_t> own = ResolveBatchSize(FLAGS_batch_size, 1, info.inputs);
  const int64_t rows = own.ok() ? *own : kRows;
  const auto specs = InputSpecs(nullptr, rows, info.inputs);
  if (!specs.has_value()) {
    std::cout << "\nSizes of the input decide whether the rest of this graph can be imported; "
                 "training checks it before it writes anything\n";
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const std::vector<TrainGraphObstacle> obstacles,
                       graph.TryImport({.training = training, .with_metrics = !training}, *specs));
  if (!obstacles.empty()) {
    std::cout << "\nWith batches of " << rows
              << " (--batch_size gives another size), this graph cannot be imported:\n"
              << ObstacleTable(obstacles);
  }
  return absl::OkStatus();
}

absl::Status PrintGraph(const TrainGraph& graph) {
  const TrainGraphInfo& info = graph.info();
  if (!info.loss.empty()) std::cout << "loss      " << info.loss << "\n";
  if (!info.train_op.empty()) std::cout << "train_op  " << info.train_op << "\n";
  if (!info.metrics.empty()) std::cout << "metrics   " << absl::StrJoin(info.metrics, ", ") << "\n";
  for (const std::string& choice : info.choices) std::cout << "          (" << choice << ")\n";
  std::cout << "variables " << info.variables.size() << ", of these trainable "
            << info.trainable_variables.size() << "\n\n"
            << InputTable(info.inputs);
  if (info.obstacles.empty()) return PrintObstaclesOfSizes(graph);
  std::cout << "\nThis graph cannot be imported:\n" << ObstacleTable(info.obstacles);
  return absl::OkStatus();
}

// Prints what the graph takes, and what prevents its import.
absl::Status ShowInput(const std::string& path, const TrainGraphOptions& options) {
  std::optional<TrainGraph> train, eval;
  if (IsDirectory(path)) {
    EST_ASSIGN_OR_RETURN(SavedModelGraphs graphs,
                         ReadSavedModelGraphs(path, options, FLAGS_serving_signature));
    train = std::move(graphs.train);
    eval = std::move(graphs.eval);
  } else {
    EST_ASSIGN_OR_RETURN(train, TrainGraph::Read(path, options));
  }
  std::cout << path << ", written by TensorFlow "
            << (train ? *train : *eval).info().tensorflow_version << "\n";
  if (train) EST_RETURN_IF_ERROR(PrintGraph(*train));
  if (eval) std::cout << (train ? "\n" : "") << "For --mode=eval:\n";
  if (eval) EST_RETURN_IF_ERROR(PrintGraph(*eval));
  std::cout << "\nAxis 0 is the batch; ? is a size that the graph leaves open. Give the arrays in "
               "this order: --input=npy:FILE,FILE\n";
  return absl::OkStatus();
}

using ImportedEstimator = tpu::TPUEstimator<>;

// Metrics of the graph see the rows of one replica, so their evaluation runs on one.
bool EvaluatesOnReplicas(const ImportedModelFn& model_fn) {
  return model_fn.info(Mode::kEval).metrics.empty();
}

ImportedEstimator MakeEstimator(const ImportedModelFn& model_fn, int64_t batch_size) {
  return ImportedEstimator({.model_fn = model_fn,
                            .config = RunConfigFromFlags(),
                            .use_tpu = FLAGS_use_tpu,
                            .train_batch_size = batch_size,
                            .eval_batch_size = batch_size,
                            .predict_batch_size = batch_size,
                            .eval_on_tpu = EvaluatesOnReplicas(model_fn)});
}

// PrepareFolder by the chief; the other processes wait until they can read the folder.
absl::Status PrepareSharedFolder(const std::string& meta) {
  Peers peers(GroupOfThisProcess());
  return peers.Agree("the folder of the graph",
                     peers.is_chief() ? PrepareFolder(FLAGS_model_dir, meta) : absl::OkStatus());
}

absl::Status TrainOrEvaluate(const ImportedModelFn& model_fn, const std::string& meta) {
  const bool training = FLAGS_mode == "train";
  const Peers peers(GroupOfThisProcess());
  const int hosts = training ? peers.size() : 1;  // in evaluation all read the same
  const std::vector<TrainGraphInput>& wanted =
      model_fn.info(training ? Mode::kTrain : Mode::kEval).inputs;
  // Without replicas, each process computes what a replica does.
  const int64_t replicas = training || EvaluatesOnReplicas(model_fn)
                               ? std::max<int64_t>(NumReplicasFromFlags(), hosts)
                               : 1;
  EST_ASSIGN_OR_RETURN(const int64_t batch_size,
                       ResolveBatchSize(FLAGS_batch_size, replicas, wanted));
  EST_ASSIGN_OR_RETURN(const Dataset input,
                       MakeDescribedInput({.input = FLAGS_input,
                                           .features = FLAGS_features,
                                           .batch_size = batch_size / hosts,
                                           .num_hosts = hosts,
                                           .current_host = training ? peers.rank() : 0,
                                           .shuffle = training ? FLAGS_shuffle : 0,
                                           .seed = FLAGS_seed,
                                           .repeat = training},
                                          wanted));
  // Sizes that the graph leaves open may prevent the import too. A check writes nothing anyway.
  const auto specs = InputSpecs(&input, batch_size / replicas, wanted);
  if (specs.has_value() && !OnlyChecks()) {
    EST_RETURN_IF_ERROR(
        model_fn.Check(training ? Mode::kTrain : Mode::kEval, *specs, static_cast<int>(replicas)));
  }
  const auto input_fn = [&input](const tpu::Params&) { return input; };
  // The variables of a SavedModel are no checkpoint yet, which evaluation needs too.
  if ((training || IsDirectory(meta)) && !OnlyChecks())
    EST_RETURN_IF_ERROR(PrepareSharedFolder(meta));
  ImportedEstimator estimator = MakeEstimator(model_fn, batch_size);
  if (training) return estimator.Train(input_fn, Steps(FLAGS_steps));
  EvaluateOptions options;
  if (FLAGS_steps > 0) options.steps = FLAGS_steps;
  EST_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(input_fn, options));
  ChiefOutput() << result.ToString() << "\n";
  return absl::OkStatus();
}

absl::Status Export(const ImportedModelFn& model_fn, const std::string& meta) {
  const std::vector<TrainGraphInput>& wanted = model_fn.info(Mode::kPredict).inputs;
  const auto count = static_cast<int64_t>(wanted.size());
  if (FLAGS_export_inputs < 0 || FLAGS_export_inputs > count) {
    return UsageError(absl::StrCat("--export_inputs must be in [0,", count, "], given ",
                                   FLAGS_export_inputs, ". The graph takes:\n",
                                   InputTable(wanted)));
  }
  std::map<std::string, TensorSpec> features;
  const auto last = static_cast<size_t>(FLAGS_export_inputs == 0 ? count : FLAGS_export_inputs);
  for (size_t i = 0; i < last; ++i) {
    const std::string& key = wanted[i].key;
    features[key.empty() ? InputName(i, wanted.size()) : key] = {wanted[i].dtype, wanted[i].shape};
  }
  if (IsDirectory(meta)) EST_RETURN_IF_ERROR(PrepareSharedFolder(meta));
  ImportedEstimator estimator = MakeEstimator(model_fn, NumReplicasFromFlags());
  EST_ASSIGN_OR_RETURN(
      const std::string folder,
      estimator.ExportSavedModel(FLAGS_export_dir, BuildRawServingInputReceiverFn(features)));
  ChiefOutput() << folder << "\n";
  return absl::OkStatus();
}

absl::Status Run() {
  const absl::StatusOr<std::string> meta =
      FindGraph(FLAGS_model_dir, FLAGS_meta, FLAGS_saved_model);
  if (!meta.ok()) return AsUsageError(meta.status());
  EST_ASSIGN_OR_RETURN(const TrainGraphOptions graph_options, GraphOptionsFromFlags());
  if (FLAGS_show_input) return ShowInput(*meta, graph_options);
  if (FLAGS_model_dir.empty() && FLAGS_saved_model.empty()) {
    const absl::string_view folder = Dirname(*meta);
    FLAGS_model_dir = folder.empty() ? "." : std::string(folder);
  }
  const bool training = FLAGS_mode == "train", exporting = FLAGS_mode == "export";
  EST_RETURN_IF_ERROR(RequireFlags(
      {{"mode", training || exporting || FLAGS_mode == "eval", "train, eval or export"},
       {"steps", FLAGS_steps > 0 || !training, "positive"},
       {"steps", FLAGS_steps >= 0 || training, "positive, or 0 for all batches"},
       {"batch_size", FLAGS_batch_size >= 0, "positive, or 0 for the graph's own"},
       {"shuffle", FLAGS_shuffle >= 0, "positive, or 0 to keep the order"},
       {"input", exporting || !FLAGS_input.empty(), "",
        "must be given: --show_input prints what the graph takes"},
       {"model_dir", !FLAGS_model_dir.empty(), "",
        "must be given with --saved_model: the folder to train in"},
       {"predictions", exporting || FLAGS_predictions.empty(), "",
        "may be given with --mode=export only: NAME=TENSOR"},
       {"predictions", !exporting || IsDirectory(*meta) || !FLAGS_predictions.empty(), "",
        "must be given with --mode=export: NAME=TENSOR"},
       {"export_dir", exporting == !FLAGS_export_dir.empty(), "",
        "must be given with --mode=export, and only there"},
       {"export_dir", CanBeFolder(FLAGS_export_dir), "a writable folder"},
       {"tpu_check", !exporting || !OnlyChecks(), "",
        "checks training or evaluation, but --mode=export does neither; leave one out"}}));
  ImportModelOptions options{.graph = graph_options, .serving_signature = FLAGS_serving_signature};
  EST_ASSIGN_OR_RETURN(options.predictions,
                       ParsePairs("predictions", "NAME=TENSOR", FLAGS_predictions));
  // An obstacle is found before anything is written.
  EST_ASSIGN_OR_RETURN(const ImportedModelFn model_fn, ImportModelFn(*meta, options));
  EST_RETURN_IF_ERROR(model_fn.Check(training    ? Mode::kTrain
                                     : exporting ? Mode::kPredict
                                                 : Mode::kEval));
  return exporting ? Export(model_fn, *meta) : TrainOrEvaluate(model_fn, *meta);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains, evaluates or exports a graph that TensorFlow's Estimator wrote");
  // The graphs that can be imported were trained without a TPU.
  gflags::SetCommandLineOptionWithMode("use_tpu", "false", gflags::SET_FLAGS_DEFAULT);
  return estimator::Main(argc, argv, estimator::Run);
}
