// Runs a signature of a SavedModel, TensorFlow's or ours, over arrays in a file:
//   saved_model_run --dir=export/1700000000 --inputs=in --outputs=out
// `in` and `out` are checkpoints: in Python, tf.raw_ops.SaveV2 writes one, and
// tf.train.load_checkpoint reads one. Without --inputs it says what the signature takes.
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/export/saved_model_reader.h"
#include "gflags/gflags.h"

DEFINE_string(dir, "", "the SavedModel's directory, or a .meta file");
DEFINE_string(tags, "serve", "of the graph in it, separated by commas");
DEFINE_string(signature, "serving_default", "which of its signatures");
DEFINE_string(inputs, "", "the prefix of a checkpoint that holds the inputs under their names");
DEFINE_string(outputs, "", "the prefix of a checkpoint to write the outputs to; empty: print them");
DEFINE_string(only, "", "outputs to compute, separated by commas; empty: all");

namespace estimator {
namespace {

void PrintSignature(const SavedSignature& signature) {
  std::vector<std::vector<std::string>> rows = {{"", "name", "type", "tensor"}};
  for (const auto& [name, tensor] : signature.inputs)
    rows.push_back({"input", name, tensor.ToString(), tensor.tensor_name});
  for (const auto& [name, tensor] : signature.outputs)
    rows.push_back({"output", name, tensor.ToString(), tensor.tensor_name});
  std::cout << FormatTable(rows);
}

absl::Status Run() {
  if (FLAGS_dir.empty()) return absl::InvalidArgumentError("--dir says which model to run");
  const std::vector<std::string> tags = absl::StrSplit(FLAGS_tags, ',', absl::SkipEmpty());
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<SavedModelReader> model,
                       SavedModelReader::Open(FLAGS_dir, {tags.begin(), tags.end()}));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<SignatureRunner> runner,
                       model->Load(FLAGS_signature, {.outputs = absl::StrSplit(
                                                         FLAGS_only, ',', absl::SkipEmpty())}));
  if (FLAGS_inputs.empty()) {
    PrintSignature(runner->signature());
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader,
                       BundleReader::Open(FLAGS_inputs));
  std::map<std::string, Array> inputs;
  for (const std::string& name : reader->names()) {
    EST_ASSIGN_OR_RETURN(inputs[name], reader->Read(name));
  }
  EST_ASSIGN_OR_RETURN(const auto outputs, runner->Run(inputs));
  if (FLAGS_outputs.empty()) {
    for (const auto& [name, array] : outputs) {
      std::cout << name << ": " << array.TypeString() << "\n" << array.ToString() << "\n";
    }
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer,
                       BundleWriter::Open(FLAGS_outputs));
  for (const auto& [name, array] : outputs) EST_RETURN_IF_ERROR(writer->Add(name, array));
  return writer->Finish();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) { return estimator::Main(argc, argv, estimator::Run); }
