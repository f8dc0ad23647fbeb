// Fine-tunes BERT as a classifier of sentences, evaluates it, predicts and exports it.
//
//   run_classifier --do_train --do_eval --max_seq_length=32 --learning_rate=1e-3   with drawn words
//   run_classifier --bert_config_file=$BERT/bert_config.json
//       --init_checkpoint=$BERT/bert_model.ckpt
//       --train_file=train.tf_record --eval_file=eval.tf_record --do_train --do_eval
//       --output_dir=/tmp/mrpc
#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/main.h"
#include "estimator/base/path.h"
#include "estimator/base/usage_error.h"
#include "models/bert/bert_config.h"
#include "models/bert/classifier.h"
#include "models/bert/classifier_data.h"
#include "models/bert/modeling.h"
#include "models/common/run_flags.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(bert_config_file, "",
              "JSON file with the sizes of the network; empty: a small network and drawn words");
DEFINE_string(train_file, "", "TFRecord files of training examples, separated by commas");
DEFINE_string(eval_file, "", "TFRecord files of examples to evaluate");
DEFINE_string(predict_file, "", "TFRecord files of examples to predict");
DEFINE_string(init_checkpoint, "", "checkpoint to start from, usually of pretraining");
DEFINE_string(output_dir, "", "the same as --model_dir: the folder of checkpoints and results");
DEFINE_int64(num_labels, 2, "number of classes");
DEFINE_int64(max_seq_length, 128, "number of ids in an example, as the files have it");
DEFINE_bool(do_train, false, "train");
DEFINE_bool(do_eval, false, "evaluate, and write eval_results.txt");
DEFINE_bool(do_predict, false, "predict, and write test_results.tsv");
DEFINE_int64(train_batch_size, 32, "examples in one training step over all replicas");
DEFINE_int64(eval_batch_size, 8, "examples in one evaluation step over all replicas");
DEFINE_int64(predict_batch_size, 8, "examples in one prediction step over all replicas");
DEFINE_double(learning_rate, 5e-5, "learning rate after the warm-up; it then falls to 0");
DEFINE_int64(num_train_steps, 1000, "the global_step at which training stops");
DEFINE_int64(warmup_steps, -1,
             "steps in which the learning rate rises from 0; -1: a tenth of --num_train_steps");
DEFINE_string(export_dir, "", "export a SavedModel below this folder; empty: no export");

namespace estimator::bert {
namespace {

using Classifier = tpu::TPUEstimator<ClassifierParams>;

// The examples of the three modes.
struct ExampleFiles {
  std::vector<std::string> train, eval, predict;
};

// Without a config: a network that learns drawn words within a minute.
BertConfig DrawnConfig() {
  return {.vocab_size = 200,
          .hidden_size = 32,
          .num_hidden_layers = 2,
          .num_attention_heads = 2,
          .intermediate_size = 64,
          .max_position_embeddings = 128,
          .type_vocab_size = 2};
}

bool IsDrawn() { return FLAGS_bert_config_file.empty(); }

absl::Status CheckOutputDir() {
  if (FLAGS_output_dir.empty()) return absl::OkStatus();
  if (!FLAGS_model_dir.empty() && FLAGS_model_dir != FLAGS_output_dir) {
    return InvalidArgument("is '", FLAGS_output_dir,
                           "', but --model_dir, which has the same meaning, is '", FLAGS_model_dir,
                           "'; give one of them");
  }
  return CheckWritableDirectory(FLAGS_output_dir);
}

// The requirement for the file of a mode: only with a config, and then if the mode is asked for.
FlagRequirement FileRequirement(const std::string& flag, const std::string& value, bool is_needed,
                                const std::string& mode) {
  if (IsDrawn()) {
    return {flag, value.empty(), "", "needs --bert_config_file, the sizes of the network"};
  }
  return {flag, !value.empty() || !is_needed, "",
          absl::StrCat("give the TFRecord files for --", mode)};
}

// The folder that must have a trained model; empty if none must. With --init_checkpoint, a model
// that is not trained has the values of that checkpoint.
std::string FolderOfTrainedModel() {
  if (FLAGS_do_train || OnlyChecks() || !FLAGS_init_checkpoint.empty()) return "";
  return FLAGS_output_dir.empty() ? FLAGS_model_dir : FLAGS_output_dir;
}

absl::Status CheckFlags(const absl::StatusOr<BertConfig>& config) {
  const int64_t positions = config.ok() ? config->max_position_embeddings : FLAGS_max_seq_length;
  const bool does_anything =
      FLAGS_do_train || FLAGS_do_eval || FLAGS_do_predict || !FLAGS_export_dir.empty();
  return RequireFlags(
      {{"do_train", does_anything, "",
        "at least one of --do_train, --do_eval, --do_predict and --export_dir must be given"},
       StatusRequirement("output_dir", CheckOutputDir()),
       {"output_dir",
        FLAGS_do_train || OnlyChecks() || !FLAGS_output_dir.empty() || !FLAGS_model_dir.empty(), "",
        "without --do_train, give the folder of a trained model"},
       TrainedModelRequirement(FLAGS_output_dir.empty() ? "model_dir" : "output_dir",
                               FolderOfTrainedModel()),
       StatusRequirement("bert_config_file", config.status()),
       FileRequirement("train_file", FLAGS_train_file, FLAGS_do_train, "do_train"),
       FileRequirement("eval_file", FLAGS_eval_file, FLAGS_do_eval, "do_eval"),
       FileRequirement("predict_file", FLAGS_predict_file, FLAGS_do_predict, "do_predict"),
       FileRequirement("init_checkpoint", FLAGS_init_checkpoint, false, ""),
       {"num_labels", FLAGS_num_labels >= 2, "at least 2"},
       {"max_seq_length", FLAGS_max_seq_length >= 8 && FLAGS_max_seq_length <= positions,
        absl::StrCat("in [8, ", positions, "]; the network has positions for ", positions,
                     " words")},
       BatchRequirement("train_batch_size", FLAGS_train_batch_size),
       BatchRequirement("eval_batch_size", FLAGS_eval_batch_size),
       BatchRequirement("predict_batch_size", FLAGS_predict_batch_size),
       {"learning_rate", FLAGS_learning_rate > 0 && std::isfinite(FLAGS_learning_rate),
        "positive and finite"},
       {"num_train_steps", FLAGS_num_train_steps > 0, "positive"},
       {"warmup_steps", FLAGS_warmup_steps >= -1 && FLAGS_warmup_steps <= FLAGS_num_train_steps,
        "in [0, num_train_steps]"},
       {"export_dir", CanBeFolder(FLAGS_export_dir), "a folder that can be written"}});
}

absl::Status FindFiles(const std::string& flag, const std::string& patterns, bool is_needed,
                       std::vector<std::string>& files) {
  if (!is_needed) return absl::OkStatus();
  auto found = FindExampleFiles(patterns, FLAGS_max_seq_length);
  if (!found.ok()) return AsUsageError(Annotate(found.status(), absl::StrCat("--", flag)));
  files = *found;
  return absl::OkStatus();
}

// Finds the files of the flags.
absl::StatusOr<ExampleFiles> GivenExamples() {
  ExampleFiles files;
  EST_RETURN_IF_ERROR(FindFiles("train_file", FLAGS_train_file, FLAGS_do_train, files.train));
  EST_RETURN_IF_ERROR(FindFiles("eval_file", FLAGS_eval_file, FLAGS_do_eval, files.eval));
  EST_RETURN_IF_ERROR(
      FindFiles("predict_file", FLAGS_predict_file, FLAGS_do_predict, files.predict));
  return files;
}

// Creates an empty folder for the drawn examples of a check, which writes nothing to the model_dir.
absl::StatusOr<std::string> MakeScratchFolder() {
  const char* parent = getenv("TMPDIR");
  std::string path =
      absl::StrCat(parent != nullptr && *parent != '\0' ? parent : "/tmp", "/drawn-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot create the folder ", path,
                     " for drawn examples; set TMPDIR to a folder that can be written"));
  }
  return path;
}

// Writes drawn examples into a folder.
//   write: false: another process writes them.
absl::StatusOr<ExampleFiles> DrawExamples(const std::string& folder, const BertConfig& config,
                                          bool write) {
  LOG(INFO) << "No --bert_config_file: a small network learns drawn words; this is not BERT";
  EST_RETURN_IF_ERROR(CreateDirectories(folder));
  const auto draw = [&](const char* name, int64_t count,
                        uint64_t seed) -> absl::StatusOr<std::vector<std::string>> {
    const std::string path = JoinPath(folder, name);
    const DrawnSentencesOptions options = {.count = count,
                                           .max_seq_length = FLAGS_max_seq_length,
                                           .vocab_size = config.vocab_size,
                                           .seed = seed};
    if (write) EST_RETURN_IF_ERROR(WriteDrawnSentences(path, options));
    return std::vector<std::string>{path};
  };
  ExampleFiles files;
  EST_ASSIGN_OR_RETURN(files.train, draw("drawn_train.tf_record", 2000, 0));
  EST_ASSIGN_OR_RETURN(files.eval, draw("drawn_eval.tf_record", 300, 1));
  EST_ASSIGN_OR_RETURN(files.predict, draw("drawn_predict.tf_record", 20, 2));
  return files;
}

auto Input(const std::vector<std::string>& files, Mode mode) {
  return [&files, mode](const ClassifierParams& params) {
    return ClassifierDataset(files, FLAGS_max_seq_length, mode, params.batch_size,
                             params.context.num_hosts, params.context.current_host);
  };
}

// Returns the shortest text that gives the same float.
std::string Text(float value) {
  std::string text;
  for (int digits = 6; digits <= 9; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    float read;
    if (absl::SimpleAtof(text, &read) && read == value) break;
  }
  return text;
}

absl::Status Evaluate(Classifier& estimator, const std::vector<std::string>& files) {
  EST_ASSIGN_OR_RETURN(const EvalResult result, estimator.Evaluate(Input(files, Mode::kEval)));
  ChiefOutput() << EvaluationTable(result);
  std::string lines;
  for (const auto& [name, value] : result.values) {
    absl::StrAppend(&lines, name, " = ",
                    name == "global_step" ? absl::StrCat(result.global_step())
                                          : Text(static_cast<float>(value.AsDouble())),
                    "\n");
  }
  if (!estimator.peers().is_chief()) return absl::OkStatus();
  return WriteFileAtomically(JoinPath(estimator.model_dir(), "eval_results.txt"), lines);
}

// Writes a line for each example: the probabilities of the classes, separated by tabs.
absl::Status Predict(Classifier& estimator, const std::vector<std::string>& files) {
  const std::string path = JoinPath(estimator.model_dir(), "test_results.tsv");
  std::string lines;
  int64_t num_lines = 0;
  Predictions predictions = estimator.Predict(Input(files, Mode::kPredict));
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<Prediction> row, predictions.Next());
    if (!row.has_value()) break;
    absl::StrAppend(&lines,
                    absl::StrJoin(row->at("probabilities").values<float>(), "\t",
                                  [](std::string* out, float p) { out->append(Text(p)); }),
                    "\n");
    ++num_lines;
  }
  if (!estimator.peers().is_chief()) return absl::OkStatus();
  EST_RETURN_IF_ERROR(WriteFileAtomically(path, lines));
  ChiefOutput() << "wrote the probabilities of " << num_lines << " examples to: " << path << "\n";
  return absl::OkStatus();
}

absl::Status Run() {
  // A check of training covers the other modes, too.
  const bool does_anything = FLAGS_do_train || FLAGS_do_eval || FLAGS_do_predict;
  if (OnlyChecks() && !does_anything) FLAGS_do_train = true;
  const absl::StatusOr<BertConfig> config =
      IsDrawn() ? DrawnConfig() : ReadBertConfig(FLAGS_bert_config_file);
  EST_RETURN_IF_ERROR(CheckFlags(config));
  EST_RETURN_IF_ERROR(AsUsageError(
      Annotate(CheckBertCheckpoint(FLAGS_init_checkpoint, *config), "--init_checkpoint")));
  if (!FLAGS_output_dir.empty()) FLAGS_model_dir = FLAGS_output_dir;
  ExampleFiles files;
  if (!IsDrawn()) {
    EST_ASSIGN_OR_RETURN(files, GivenExamples());
  }

  ClassifierParams params;
  params.bert_config = *config;
  params.num_labels = FLAGS_num_labels;
  params.init_checkpoint = FLAGS_init_checkpoint;
  params.optimizer = {.learning_rate = FLAGS_learning_rate,
                      .num_train_steps = FLAGS_num_train_steps,
                      .num_warmup_steps = FLAGS_warmup_steps >= 0 ? FLAGS_warmup_steps
                                                                  : FLAGS_num_train_steps / 10};
  Classifier estimator({.model_fn = ClassifierModelFn,
                        .config = RunConfigFromFlags(),
                        .params = params,
                        .use_tpu = FLAGS_use_tpu,
                        .train_batch_size = FLAGS_train_batch_size,
                        .eval_batch_size = FLAGS_eval_batch_size,
                        .predict_batch_size = FLAGS_predict_batch_size});

  std::string scratch;
  const absl::Cleanup remove_scratch = [&scratch] {
    if (!scratch.empty()) RemoveDirectoryRecursively(scratch).IgnoreError();
  };
  // Without a folder the Estimator could not be made: its first call says why.
  if (IsDrawn() && !estimator.model_dir().empty()) {
    if (OnlyChecks()) {
      EST_ASSIGN_OR_RETURN(scratch, MakeScratchFolder());
    }
    const absl::StatusOr<ExampleFiles> drawn =
        DrawExamples(scratch.empty() ? estimator.model_dir() : scratch, *config,
                     /*write=*/!scratch.empty() || estimator.peers().is_chief());
    // The other processes read what the chief has written.
    EST_RETURN_IF_ERROR(estimator.peers().Agree("the drawn examples", drawn.status()));
    files = *drawn;
  }
  if (FLAGS_do_train) {
    ProgramPlan plan;
    if (FLAGS_do_eval) plan.steps_per_eval = FLAGS_num_train_steps;
    if (FLAGS_do_predict) plan.afterwards.emplace_back("predictions");
    if (!FLAGS_export_dir.empty())
      plan.afterwards.push_back(absl::StrCat("an export to ", FLAGS_export_dir));
    EST_RETURN_IF_ERROR(
        estimator.Train(Input(files.train, Mode::kTrain), MaxSteps(FLAGS_num_train_steps),
                        {.hooks = {std::make_shared<ProgramPlanHook>(std::move(plan))}}));
  }
  if (FLAGS_do_eval) EST_RETURN_IF_ERROR(Evaluate(estimator, files.eval));
  if (FLAGS_do_predict) EST_RETURN_IF_ERROR(Predict(estimator, files.predict));
  if (!FLAGS_export_dir.empty()) {
    EST_ASSIGN_OR_RETURN(
        const std::string dir,
        estimator.ExportSavedModel(FLAGS_export_dir, ClassifierServingInput(FLAGS_max_seq_length)));
    ChiefOutput() << "exported to: " << dir << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator::bert

int main(int argc, char** argv) {
  gflags::SetUsageMessage("fine-tunes BERT as a classifier of sentences, and uses it");
  // The default of the original program; other programs here run on replicas by default.
  gflags::SetCommandLineOptionWithMode("use_tpu", "false", gflags::SET_FLAGS_DEFAULT);
  return estimator::Main(argc, argv, estimator::bert::Run);
}
