#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model_reader.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

using Arrays = std::map<std::string, Array>;

absl::Status CheckInputs(const SavedSignature& signature, const Arrays& inputs) {
  std::vector<std::string> wrong;
  for (const auto& [name, array] : inputs) {
    const auto wanted = signature.inputs.find(name);
    if (wanted == signature.inputs.end()) {
      wrong.push_back(absl::StrCat("'", name, "' is not one of its inputs"));
      continue;
    }
    bool fits = array.dtype() == wanted->second.dtype;
    if (wanted->second.shape.has_value()) {
      const Shape& shape = *wanted->second.shape;
      fits = fits && shape.rank() == array.shape().rank();
      for (int i = 0; fits && i < shape.rank(); ++i)
        fits = shape.dim(i) == Shape::kUnknownDim || shape.dim(i) == array.shape().dim(i);
    }
    if (!fits) {
      wrong.push_back(absl::StrCat("'", name, "' is ", array.TypeString(), ", it takes ",
                                   wanted->second.ToString()));
    }
  }
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("inputs do not fit the signature: ", absl::StrJoin(wrong, "; ")));
}

// One row an Example.
absl::StatusOr<std::map<std::string, Array>> Parse(const ImportedParser& parser,
                                                   const Array& serialized) {
  std::map<std::string, std::vector<Array>> rows;
  for (int64_t i = 0; i < serialized.num_elements(); ++i) {
    absl::StatusOr<ArrayMap> example =
        ParseSingleExample(serialized.data<std::string>()[i], parser.specs);
    if (!example.ok()) return Annotate(example.status(), absl::StrCat("Example ", i));
    for (const auto& [name, placeholder] : parser.features) rows[name].push_back(example->at(name));
  }
  std::map<std::string, Array> features;
  for (const auto& [name, placeholder] : parser.features) {
    features[name] =
        rows[name].empty() ? Array(placeholder.dtype(), placeholder.shape()) : Stack(rows[name]);
  }
  return features;
}

}  // namespace

// A signature's program for one set of input shapes.
struct Compiled {
  SavedSignatureGraph graph;
  std::vector<std::string> direct;  // inputs that are fed as they are
  std::vector<std::string> outputs;
  std::unique_ptr<Executable> executable;
};

struct SignatureRunner::Rep {
  const SavedModelReader& reader;
  SavedSignature signature;
  LoadSignatureOptions options;
  VariableStore variables;
  std::unique_ptr<Backend> backend;
  std::map<std::string, Compiled> compiled;  // by the input shapes, as text

  absl::StatusOr<Compiled*> CompileFor(const Arrays& inputs) {
    std::string key;
    std::map<std::string, Shape> shapes;
    for (const auto& [name, array] : inputs) {
      shapes[name] = array.shape();
      absl::StrAppend(&key, name, array.shape().ToString(), ";");
    }
    const auto done = compiled.find(key);
    if (done != compiled.end()) return &done->second;
    Compiled made;
    EST_ASSIGN_OR_RETURN(made.graph, reader.Import(signature, shapes, options));
    EST_RETURN_IF_ERROR(reader.LoadVariables(made.graph.variables, variables));
    ProgramSpec spec;
    for (const auto& [name, tensor] : made.graph.inputs) {
      if (tensor.dtype() == DType::kString) continue;  // a program has no strings
      made.direct.push_back(name);
      spec.feeds.push_back(tensor);
    }
    for (const ImportedParser& parser : made.graph.parsers) {
      for (const auto& [name, placeholder] : parser.features) spec.feeds.push_back(placeholder);
    }
    for (const auto& [name, tensor] : made.graph.outputs) {
      made.outputs.push_back(name);
      spec.fetches.push_back(tensor);
    }
    EST_ASSIGN_OR_RETURN(made.executable, backend->Compile(*made.graph.graph, spec));
    return &compiled.emplace(std::move(key), std::move(made)).first->second;
  }
};

SignatureRunner::SignatureRunner(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
SignatureRunner::~SignatureRunner() = default;

absl::StatusOr<std::unique_ptr<SignatureRunner>> SignatureRunner::Create(
    const SavedModelReader& reader, const SavedSignature& signature,
    const LoadSignatureOptions& options) {
  for (const std::string& output : options.outputs) {
    if (signature.outputs.count(output) == 0)
      return absl::InvalidArgumentError(absl::StrCat("the signature has no output '", output, "'"));
  }
  auto rep = absl::WrapUnique(new Rep{.reader = reader,
                                      .signature = signature,
                                      .options = options,
                                      .variables = {},
                                      .backend = nullptr,
                                      .compiled = {}});
  rep->backend = MakeCpuBackend(rep->variables);
  return absl::WrapUnique(new SignatureRunner(std::move(rep)));
}

const SavedSignature& SignatureRunner::signature() const { return rep_->signature; }

absl::StatusOr<std::map<std::string, Array>> SignatureRunner::Run(
    const std::map<std::string, Array>& inputs) {
  EST_RETURN_IF_ERROR(CheckInputs(rep_->signature, inputs));
  EST_ASSIGN_OR_RETURN(Compiled* const compiled, rep_->CompileFor(inputs));
  StepFeeds feeds(1);
  for (const std::string& name : compiled->direct) feeds[0].push_back(inputs.at(name));
  for (const ImportedParser& parser : compiled->graph.parsers) {
    for (const auto& [name, tensor] : compiled->graph.inputs) {
      if (!(tensor == parser.serialized)) continue;
      EST_ASSIGN_OR_RETURN(const Arrays features, Parse(parser, inputs.at(name)));
      for (const auto& [key, array] : features) feeds[0].push_back(array);
    }
  }
  Arrays outputs;
  const auto infeed = [&feeds]() -> absl::StatusOr<std::optional<StepFeeds>> { return feeds; };
  const auto outfeed = [&](int64_t, const StepFetches& values) {
    for (size_t i = 0; i < compiled->outputs.size(); ++i)
      outputs[compiled->outputs[i]] = values[0][i].Clone();
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(compiled->executable->RunLoop(1, infeed, outfeed).status());
  return outputs;
}

}  // namespace estimator
