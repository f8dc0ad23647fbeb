#include "estimator/export/serving/compiled_signature.h"

#include <optional>

#include "absl/memory/memory.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_parser.h"
#include "estimator/graph/needed_nodes.h"

namespace estimator {
namespace {

// Parses a string array of serialized Examples. Axis 0 of each resulting feature is the Example.
absl::StatusOr<ArrayMap> ParseExamples(const Array& serialized, const FeatureSpecs& specs) {
  if (serialized.num_elements() == 0)
    return InvalidArgument("there are no Examples to parse: the input has no rows");
  return ExampleParser(specs).ParseBatch(serialized.values<std::string>());
}

absl::Status CheckInitialized(const std::set<const Node*>& needed, const VariableStore& store) {
  std::set<std::string> missing;
  for (const Node* node : needed) {
    if (node->op() == "VariableV2" && !store.initialized(node->name()))
      missing.insert(node->name());
  }
  if (missing.empty()) return absl::OkStatus();
  return FailedPrecondition("variables without a value: ", absl::StrJoin(missing, ", "));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompiledSignature>> CompiledSignature::Compile(
    const ServableSignature& source, const InputShapes& shapes, Backend& backend) {
  EST_ASSIGN_OR_RETURN(const SignatureGraph made, source.GraphFor(shapes));
  EST_RETURN_IF_ERROR(source.LoadVariables(made, backend.variables()));
  auto program = absl::WrapUnique(new CompiledSignature());
  ProgramSpec spec;
  for (const auto& [name, tensor] : made.outputs) {
    program->outputs_.push_back(name);
    spec.fetches.push_back(tensor);
  }
  const std::vector<const Node*> nodes = NeededNodes(*made.graph, spec.fetches);
  const std::set<const Node*> needed(nodes.begin(), nodes.end());
  EST_RETURN_IF_ERROR(CheckInitialized(needed, backend.variables()));
  const auto feed = [&](const std::string& input, const std::string& feature,
                        const Tensor& tensor) {
    // A request may leave out an input that the outputs do not need.
    if (needed.count(tensor.node()) == 0) return;
    program->required_.insert(input);
    program->feeds_.push_back({input, feature});
    spec.feeds.push_back(tensor);
  };
  for (const auto& [name, tensor] : made.inputs) {
    feed(name, "", tensor);
    for (const ImportedParser& parser : made.parsers) {
      // The host parses the Examples; the program gets the features.
      if (!(parser.serialized == tensor)) continue;
      for (const auto& [feature, placeholder] : parser.features) feed(name, feature, placeholder);
      program->parsed_.emplace(name, parser.specs);
    }
  }
  EST_ASSIGN_OR_RETURN(program->executable_, backend.Compile(*made.graph, spec));
  return program;
}

absl::StatusOr<ArrayMap> CompiledSignature::Run(const ArrayMap& inputs) {
  std::map<std::string, ArrayMap> parsed;
  for (const auto& [name, specs] : parsed_) {
    const auto given = inputs.find(name);
    if (given == inputs.end()) continue;  // the outputs do not need it
    EST_ASSIGN_OR_RETURN(parsed[name], ParseExamples(given->second, specs));
  }
  std::vector<Array> feeds;
  for (const Feed& feed : feeds_) {
    feeds.push_back(feed.feature.empty() ? inputs.at(feed.input)
                                         : parsed.at(feed.input).at(feed.feature));
  }
  ArrayMap outputs;
  const auto outfeed = [&](int64_t, const StepFetches& fetches) {
    // The next request reuses the memory of the fetches.
    for (size_t i = 0; i < outputs_.size(); ++i) outputs[outputs_[i]] = fetches[0][i].Clone();
    return absl::OkStatus();
  };
  const auto infeed = [&feeds]() -> absl::StatusOr<std::optional<StepFeeds>> {
    return std::optional<StepFeeds>({feeds});
  };
  EST_RETURN_IF_ERROR(executable_->RunLoop(1, infeed, outfeed).status());
  return outputs;
}

}  // namespace estimator
