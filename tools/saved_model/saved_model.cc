// Shows the contents of SavedModels and runs their signatures. `--help` shows the commands.
#include <gflags/gflags.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/export/saved_model/saved_model_reader.h"
#include "estimator/export/saved_model/saved_model_show.h"
#include "estimator/export/serving/load_predictor.h"
#include "tools/saved_model/arguments.h"

DEFINE_string(dir, "", "the folder of a SavedModel, or a folder of exports");
DEFINE_string(tag_set, "", "the tags of one graph, comma-separated; run: the default is serve");
DEFINE_string(signature_def, "", "a signature of that graph; run: the default is serving_default");
DEFINE_bool(all, false, "show: show everything");
DEFINE_bool(list_ops, false, "show: list the ops of that graph");
DEFINE_string(inputs, "",
              "run: input files, NAME=FILE;NAME=FILE, each .npy, .npz[ARRAY] or .tfrecord");
DEFINE_string(outputs, "", "run: outputs to compute, comma-separated; empty: all");
DEFINE_string(outdir, "",
              "run: folder in which to write NAME.npy for each output; empty: print them");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(saved_model COMMAND --dir=DIR [flags]

  show     shows the contents, with the text of TensorFlow's saved_model_cli
             --dir=DIR                                     shows the tag-sets of the graphs
             --dir=DIR --tag_set=serve                     shows the signatures of a graph
             --dir=DIR --tag_set=serve --list_ops          shows the ops of a graph
             --dir=DIR --tag_set=serve --signature_def=serving_default
                                                           shows the inputs and outputs of a
                                                           signature
             --dir=DIR --all                               shows everything
             --dir=model.ckpt-7.meta                       shows the placeholders of a checkpoint's
                                                           graph
  run      computes a signature of a model, written by us or by TensorFlow
             --dir=DIR                                     shows the inputs and outputs; computes a
                                                           signature without inputs
             --dir=DIR --inputs='image=image.npy'          prints the outputs
             --dir=DIR --inputs='image=image.npy;k=k.npy' --outdir=out --outputs=probabilities
                                                           writes one output to a file
             --dir=model.ckpt-7.meta --inputs='x:0=x.npy' --outputs=logits:0
                                                           computes tensors of a graph without
                                                           signatures

DIR is a SavedModel, or a folder of exports. In a folder of exports, the newest (the largest number)
is used.

An input is a file of one array, with the rows of the batch on axis 0. In Python:
             numpy.save("image.npy", numpy.zeros([3, 28, 28, 1], numpy.float32))
For a parsing receiver, an input is a TFRecord file whose records are serialized tf.train.Examples.
In Python:
             with tf.io.TFRecordWriter("in.tfrecord") as writer:
               writer.write(example.SerializeToString())
and then:
             --dir=DIR --inputs='examples=in.tfrecord'
An output is written to OUTDIR/NAME.npy. Read it with numpy.load.

Exit codes:
  0    success
  1    an error
  2    a wrong command line
  130  interrupted)";

// Returns an error of the command line.
absl::Status Usage(const std::string& what) { return InvalidArgument(what); }

absl::StatusOr<std::string> ModelDir() {
  EST_ASSIGN_OR_RETURN(const std::string found, FindSavedModel(FLAGS_dir));
  if (found != FLAGS_dir) std::cerr << "the newest export: " << found << "\n";
  return found;
}

// Whether --dir is the graph of a checkpoint, which has no tags.
bool IsMeta() { return absl::EndsWith(FLAGS_dir, ".meta"); }

constexpr char kHowToRunTensors[] = "here: run --inputs='x:0=x.npy' --outputs=y:0";

// What the flags of `show` ask for.
absl::StatusOr<std::string> ShownText(const SavedModelShow& model) {
  if (FLAGS_all) return model.All();
  if (!IsMeta() && FLAGS_tag_set.empty()) return model.TagSets();
  const std::string tags = IsMeta() ? "" : FLAGS_tag_set;
  if (FLAGS_list_ops) return model.Ops(tags);
  if (IsMeta() || FLAGS_signature_def.empty()) return model.SignatureKeys(tags);
  return model.InputsAndOutputs(tags, FLAGS_signature_def);
}

absl::Status Show() {
  EST_ASSIGN_OR_RETURN(const std::string dir, ModelDir());
  EST_ASSIGN_OR_RETURN(const SavedModelShow model, SavedModelShow::Open(dir));
  EST_ASSIGN_OR_RETURN(const std::string text, ShownText(model));
  const std::string tensors = model.Tensors();
  std::cout << text << tensors;
  if (!tensors.empty()) std::cout << "(" << kHowToRunTensors << ")\n";
  return absl::OkStatus();
}

void PrintSignature(const SavedSignature& signature) {
  std::vector<std::vector<std::string>> rows = {{"", "name", "type", "tensor"}};
  for (const auto& [name, tensor] : signature.inputs)
    rows.push_back({"input", name, tensor.ToString(), tensor.tensor_name});
  for (const auto& [name, tensor] : signature.outputs)
    rows.push_back({"output", name, tensor.ToString(), tensor.tensor_name});
  std::cout << FormatTable(rows) << "(--inputs='NAME=FILE;...' runs it; --help says how to make "
            << "the files)\n";
}

absl::Status WriteOutputs(const ArrayMap& outputs) {
  // Checks all paths before the first file is written.
  std::map<std::string, std::string> paths;
  for (const auto& [name, array] : outputs) {
    EST_ASSIGN_OR_RETURN(paths[name], OutputPath(FLAGS_outdir, name));
  }
  for (const auto& [name, array] : outputs) {
    const std::string& path = paths[name];
    EST_RETURN_IF_ERROR(CreateDirectories(Dirname(path)));  // "metrics/accuracy/value"
    EST_RETURN_IF_ERROR(SaveNpy(path, array));
    std::cout << path << ": " << array.TypeString() << "\n";
  }
  return absl::OkStatus();
}

std::vector<std::string> Outputs() { return absl::StrSplit(FLAGS_outputs, ',', absl::SkipEmpty()); }

// Whether all of `names` are names of tensors, such as "x:0".
bool AreTensors(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return absl::StrContains(name, ':');
  });
}

// Makes a signature that feeds and computes tensors by their names.
SavedSignature SignatureOfTensors(const ArrayMap& inputs, const std::vector<std::string>& outputs) {
  SavedSignature signature;
  for (const auto& [name, array] : inputs)
    signature.inputs[name] = {name, array.dtype(), std::nullopt};
  for (const std::string& name : outputs)
    signature.outputs[name] = {name, DType::kInvalid, std::nullopt};
  return signature;
}

// Returns the number of rows of an input whose batch size the signature does not fix.
std::optional<int64_t> RowsOf(const ArrayMap& inputs, const SavedSignature& signature) {
  for (const auto& [name, tensor] : signature.inputs) {
    const auto given = inputs.find(name);
    if (given == inputs.end() || !tensor.shape || tensor.shape->rank() == 0) continue;
    const Shape& shape = given->second.shape();
    if (tensor.shape->dim(0) == Shape::kUnknownDim && shape.rank() > 0 && shape.dim(0) > 0) {
      return shape.dim(0);
    }
  }
  return std::nullopt;
}

absl::StatusOr<SavedSignature> Signature(const SavedModelReader& reader,
                                         const LoadPredictorOptions& options) {
  absl::StatusOr<SavedSignature> signature = reader.Signature(options.signature_key);
  if (signature.ok() || !reader.signatures().empty()) return signature;
  return absl::Status(signature.status().code(),
                      absl::StrCat(signature.status().message(), "; ", kHowToRunTensors));
}

absl::StatusOr<std::unique_ptr<Predictor>> Load(const std::string& dir, const ArrayMap& inputs,
                                                LoadPredictorOptions options) {
  EST_ASSIGN_OR_RETURN(auto reader, SavedModelReader::Open(dir, options.tags));
  if (!AreTensors(options.outputs)) {
    EST_ASSIGN_OR_RETURN(const SavedSignature signature, Signature(*reader, options));
    options.batch_size = RowsOf(inputs, signature);
    return LoadPredictor(dir, options);
  }
  const std::vector<std::string> outputs = std::exchange(options.outputs, {});
  return LoadPredictor(std::move(reader), SignatureOfTensors(inputs, outputs), options);
}

absl::Status Run(const std::map<std::string, std::string>& files) {
  EST_ASSIGN_OR_RETURN(const std::string dir, ModelDir());
  LoadPredictorOptions options;
  if (!FLAGS_tag_set.empty()) {
    const std::vector<std::string> tags = absl::StrSplit(FLAGS_tag_set, ',', absl::SkipEmpty());
    options.tags = {tags.begin(), tags.end()};
  }
  if (!FLAGS_signature_def.empty()) options.signature_key = FLAGS_signature_def;
  options.outputs = Outputs();
  if (files.empty() && !AreTensors(options.outputs)) {
    EST_ASSIGN_OR_RETURN(const auto reader, SavedModelReader::Open(dir, options.tags));
    EST_ASSIGN_OR_RETURN(const SavedSignature signature, Signature(*reader, options));
    if (!signature.inputs.empty()) {
      PrintSignature(signature);
      return absl::OkStatus();
    }
  }
  EST_ASSIGN_OR_RETURN(ArrayMap inputs, ReadInputs(files));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Predictor> predictor, Load(dir, inputs, options));
  ConvertInputs(predictor->inputs(), inputs);
  EST_ASSIGN_OR_RETURN(const ArrayMap outputs, predictor->Predict(inputs));
  if (!FLAGS_outdir.empty()) return WriteOutputs(outputs);
  for (const auto& [name, array] : outputs)
    std::cout << name << ": " << array.TypeString() << "\n" << array.ToString() << "\n";
  return absl::OkStatus();
}

// Checks the command line.
absl::Status CheckArguments(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Usage("a command is missing: show or run");
  if (arguments[0] != "show" && arguments[0] != "run")
    return Usage(
        absl::StrCat("unknown command \"", arguments[0], "\"; the commands are show and run"));
  if (arguments.size() > 1)
    return Usage(absl::StrCat("unexpected argument \"", arguments[1], "\"; flags begin with --"));
  if (FLAGS_dir.empty()) return Usage("--dir must be given: the folder of a model");
  const bool show = arguments[0] == "show";
  if (show && !FLAGS_all && FLAGS_tag_set.empty() && !IsMeta() &&
      (FLAGS_list_ops || !FLAGS_signature_def.empty()))
    return Usage("--list_ops and --signature_def must be paired with a --tag_set");
  if (show && (!FLAGS_inputs.empty() || !FLAGS_outputs.empty() || !FLAGS_outdir.empty()))
    return Usage("--inputs, --outputs and --outdir are flags of run");
  if (!show && (FLAGS_all || FLAGS_list_ops))
    return Usage("--all and --list_ops are flags of show");
  if (!show && AreTensors(Outputs()) && !FLAGS_signature_def.empty())
    return Usage(
        "--outputs has names of tensors, which are not in a signature: leave out "
        "--signature_def");
  return ParseInputFiles(FLAGS_inputs).status();
}

int RunCommand(const std::vector<std::string>& arguments) {
  const absl::Status usage = CheckArguments(arguments);
  if (!usage.ok()) {
    std::cerr << usage.message() << "\n(saved_model --help shows the usage)\n";
    return kUsageExitCode;
  }
  const absl::Status status = arguments[0] == "show" ? Show() : Run(*ParseInputFiles(FLAGS_inputs));
  if (status.ok()) return 0;
  std::cerr << "error: " << status.ToString() << "\n";
  // A loop that does not end is cancelled by a signal.
  return absl::IsCancelled(status) && InterruptRequested() ? kInterruptedExitCode : kErrorExitCode;
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage(estimator::kUsage);
  return estimator::MainWithArguments(argc, argv, estimator::RunCommand);
}
