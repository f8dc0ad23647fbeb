#include "estimator/graphdef/import_graph_def.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graphdef/import_check.h"
#include "estimator/graphdef/import_output_args.h"
#include "estimator/graphdef/import_parse_example.h"
#include "estimator/graphdef/import_rules.h"
#include "estimator/graphdef/parsed_feature.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// The largest number of elements of a tensor. No served tensor is larger, and a product of sizes
// does not overflow.
constexpr int64_t kMaxElements = int64_t{1} << 31;
// Results up to this size become constants, so that values computed from shapes are constants too.
constexpr int64_t kMaxFoldedElements = 4096;

class Importer {
 public:
  Importer(const ImportOptions& options, FlatGraph& flat, Graph& graph)
      : options_(options), flat_(flat), graph_(graph) {}

  absl::StatusOr<ImportedGraph> Run() {
    EST_RETURN_IF_ERROR(AddFeeds());
    std::vector<FlatTensor> fetches;
    for (const std::string& name : options_.fetches) {
      EST_ASSIGN_OR_RETURN(fetches.emplace_back(), Find(name, "fetch"));
    }
    EST_RETURN_IF_ERROR(Reach(fetches));
    EST_RETURN_IF_ERROR(problems_.status());
    if (!options_.restore.restore_op_name.empty()) {
      EST_ASSIGN_OR_RETURN(slices_, FindCheckpointSlices(options_.restore, flat_));
    }
    EST_ASSIGN_OR_RETURN(const std::vector<int> order, Sorted(fetches));
    values_.resize(flat_.nodes().size());
    for (const int node : order) EST_RETURN_IF_ERROR(Import(node));
    for (const FlatTensor& fetch : fetches) {
      EST_ASSIGN_OR_RETURN(result_.fetches.emplace_back(), Value(fetch));
    }
    return std::move(result_);
  }

 private:
  const proto::NodeDef& Def(int node) const { return *flat_.node(node).def; }

  // The name and op of a node: "'dense/MatMul' (MatMul)".
  std::string Where(int node) const {
    return absl::StrCat("'", flat_.node(node).name, "' (", Def(node).op(), ")");
  }

  std::string NameFor(absl::string_view name) const {
    while (absl::ConsumeSuffix(&name, "/")) {
    }
    const absl::string_view prefix = absl::StripSuffix(options_.prefix, "/");
    return prefix.empty() ? std::string(name) : absl::StrCat(prefix, "/", name);
  }

  absl::StatusOr<FlatTensor> Find(absl::string_view name, absl::string_view what) {
    const absl::StatusOr<FlatTensor> found = flat_.Find(name);
    return found.ok() ? found : Annotate(found.status(), absl::StrCat(what, " '", name, "'"));
  }

  absl::Status AddFeeds() {
    for (const auto& [name, tensor] : options_.input_map) {
      EST_ASSIGN_OR_RETURN(const FlatTensor at, Find(name, "input_map"));
      if (tensor.graph() != &graph_ || !tensor.valid()) {
        return absl::InvalidArgumentError(
            absl::StrCat("input_map '", name, "' is not a tensor of the graph imported into"));
      }
      given_.emplace(at, tensor);
    }
    for (const auto& [name, spec] : options_.feeds) {
      const absl::StatusOr<FlatTensor> found = Find(name, "feed");
      if (!found.ok()) {
        const absl::string_view message = found.status().message();
        return absl::Status(found.status().code(),
                            absl::StrCat(message, absl::EndsWith(message, "?") ? " The" : "; the",
                                         " graph's placeholders are ", flat_.Placeholders()));
      }
      const FlatTensor at = *found;
      EST_RETURN_IF_ERROR(CheckFeed(name, spec, Def(at.node), kMaxElements));
      const Tensor fed =
          graph_.AddOp("Placeholder", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}},
                       NameFor(flat_.node(at.node).name));
      EST_RETURN_IF_ERROR(graph_.status());
      if (!given_.emplace(at, fed).second)
        return absl::InvalidArgumentError(absl::StrCat("feed '", name, "' is given twice"));
      result_.feeds.emplace(name, fed);
    }
    return absl::OkStatus();
  }

  // Visits every node that the fetches need, and collects the reasons why some cannot be imported.
  absl::Status Reach(const std::vector<FlatTensor>& fetches) {
    std::set<int> seen;
    std::vector<FlatTensor> pending(fetches.rbegin(), fetches.rend());
    while (!pending.empty()) {
      const FlatTensor at = pending.back();
      pending.pop_back();
      if (given_.count(at) > 0) continue;
      used_.insert(at);
      const proto::NodeDef& def = Def(at.node);
      if (IsParseExampleOp(def.op())) CheckParsed(at);
      if (!seen.insert(at.node).second) continue;
      if (std::optional<std::string> problem = ImportProblem(def))
        problems_.Add(def.op(), *std::move(problem), flat_.node(at.node).name);
      EST_RETURN_IF_ERROR(Resolve(at.node));
      const std::vector<FlatTensor>& inputs = Inputs(at.node);
      pending.insert(pending.end(), inputs.rbegin(), inputs.rend());
    }
    return absl::OkStatus();
  }

  // Finds the inputs of a node. Those of a parsed feature are the serialized Examples.
  absl::Status Resolve(int node) {
    absl::StatusOr<std::optional<ParsedFeature>> feature = ReadParsedFeature(Def(node));
    if (!feature.ok()) return Annotate(feature.status(), Where(node));
    if (!feature->has_value()) return flat_.Resolve(node);
    // In a function, the name means nothing here: the nodes that pad are then imported as others.
    const absl::StatusOr<FlatTensor> serialized = flat_.Find((*feature)->serialized);
    if (!serialized.ok()) return flat_.Resolve(node);
    parsed_.emplace(node, ParsedNode{*std::move(*feature), {*serialized}});
    return absl::OkStatus();
  }
  const std::vector<FlatTensor>& Inputs(int node) const {
    const auto parsed = parsed_.find(node);
    return parsed == parsed_.end() ? flat_.node(node).inputs : parsed->second.inputs;
  }

  void CheckParsed(FlatTensor at) {
    const proto::NodeDef& def = Def(at.node);
    const ParseExampleOutputs outputs = ParseExampleOutputsOf(def);
    const int dense = at.output - outputs.first_dense();
    const auto shapes = def.attr().find("dense_shapes");
    if (dense < 0 || dense >= outputs.num_dense) {
      problems_.Add(def.op(), "a sparse or ragged feature", flat_.node(at.node).name);
    } else if (shapes != def.attr().end() && dense < shapes->second.list().shape_size()) {
      const auto& shape = shapes->second.list().shape(dense);
      for (const auto& dim : shape.dim()) {
        if (dim.size() >= 0 && !shape.unknown_rank()) continue;
        problems_.Add(def.op(), "a dense feature of variable length", flat_.node(at.node).name);
        return;
      }
    }
  }

  // The nodes that the fetches need, each after its inputs. The search keeps its own stack: a long
  // chain of nodes would overflow the thread's.
  absl::StatusOr<std::vector<int>> Sorted(const std::vector<FlatTensor>& fetches) const {
    enum class State : char { kNew, kOpen, kDone };
    std::vector<State> states(flat_.nodes().size(), State::kNew);
    std::vector<std::pair<int, size_t>> stack;  // node, its next input
    std::vector<int> order;
    const auto open = [&](FlatTensor at) {
      if (given_.count(at) > 0) return true;
      State& state = states[static_cast<size_t>(at.node)];
      if (state == State::kOpen) return false;
      if (state == State::kNew) stack.emplace_back(at.node, 0);
      if (state == State::kNew) state = State::kOpen;
      return true;
    };
    for (const FlatTensor& fetch : fetches) {
      open(fetch);
      while (!stack.empty()) {
        const int node = stack.back().first;
        const std::vector<FlatTensor>& inputs = Inputs(node);
        if (stack.back().second == inputs.size()) {
          states[static_cast<size_t>(node)] = State::kDone;
          order.push_back(node);
          stack.pop_back();
        } else if (!open(inputs[stack.back().second++])) {
          return absl::InvalidArgumentError(absl::StrCat(Where(node), " depends on itself"));
        }
      }
    }
    return order;
  }

  absl::StatusOr<Tensor> Value(FlatTensor at) const {
    const auto given = given_.find(at);
    if (given != given_.end()) return given->second;
    const std::vector<Tensor>& outputs = values_[static_cast<size_t>(at.node)];
    if (static_cast<size_t>(at.output) < outputs.size() &&
        outputs[static_cast<size_t>(at.output)].valid())
      return outputs[static_cast<size_t>(at.output)];
    return absl::InvalidArgumentError(absl::StrCat(Where(at.node), " has no output ", at.output));
  }

  absl::Status Import(int node) {
    const proto::NodeDef& def = Def(node);
    const std::string name = NameFor(flat_.node(node).name);
    std::vector<Tensor> inputs;
    for (const FlatTensor& input : Inputs(node)) {
      const absl::StatusOr<Tensor> value = Value(input);
      if (!value.ok()) return Annotate(value.status(), Where(node));
      inputs.push_back(*value);
    }
    absl::StatusOr<std::vector<Tensor>> outputs =
        parsed_.count(node) > 0      ? ImportParsedFeature(node, name, inputs[0])
        : def.op() == "Const"        ? ImportConst(def, name)
        : IsVariableOp(def.op())     ? ImportVariable(node, name)
        : IsParseExampleOp(def.op()) ? ImportParseExample(node, name, inputs)
                                     : ImportOp(def, name, std::move(inputs));
    EST_RETURN_IF_ERROR(graph_.status());
    if (!outputs.ok()) return Annotate(outputs.status(), Where(node));
    for (Tensor& output : *outputs) {
      if (!output.valid()) continue;
      if (!HasElementsAtMost(output.shape(), kMaxElements)) {
        return absl::InvalidArgumentError(absl::StrCat(Where(node), ": the result ",
                                                       output.spec().ToString(),
                                                       " is too large, or has a negative size"));
      }
      output = Folded(output, name);
    }
    values_[static_cast<size_t>(node)] = *std::move(outputs);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> ImportConst(const proto::NodeDef& def,
                                                  const std::string& name) {
    const auto value = def.attr().find("value");
    if (value == def.attr().end())
      return absl::InvalidArgumentError("the constant has no attribute 'value'");
    EST_ASSIGN_OR_RETURN(const Array array,
                         ReadTensorProto(value->second.tensor(), options_.max_constant_bytes));
    return std::vector<Tensor>{
        graph_.AddOp("Const", {}, {{"value", array}, {"dtype", array.dtype()}}, name)};
  }

  absl::StatusOr<std::vector<Tensor>> ImportVariable(int node, const std::string& name) {
    const proto::NodeDef& def = Def(node);
    EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(def.attr().at("shape").shape()));
    const Tensor variable =
        graph_.AddOp("VariableV2", {},
                     {{"dtype", ReadDType(def.attr().at("dtype").type())}, {"shape", shape}}, name);
    // The name in the checkpoint comes from the restore op if there is one. Otherwise a resource
    // variable is stored under its shared_name, a reference variable under the name of its node.
    CheckpointSlice source;
    const auto found = slices_.find(node);
    const auto shared = def.attr().find("shared_name");
    if (found != slices_.end()) {
      source = found->second;
    } else if (def.op() == "VarHandleOp" && shared != def.attr().end() &&
               !shared->second.s().empty()) {
      source.name = shared->second.s();
    } else {
      source.name = flat_.node(node).name;
    }
    result_.variables.push_back({variable, std::move(source)});
    return std::vector<Tensor>{variable};
  }

  absl::StatusOr<std::vector<Tensor>> ImportParseExample(int node, const std::string& name,
                                                         const std::vector<Tensor>& inputs) {
    EST_ASSIGN_OR_RETURN(const std::vector<DenseFeature> features,
                         DenseFeatures(Def(node), inputs));
    const Tensor& serialized = inputs[0];
    EST_ASSIGN_OR_RETURN(ImportedParser* const parser, ParserOf(serialized));
    std::vector<Tensor> outputs;
    for (const DenseFeature& feature : features) {
      EST_RETURN_IF_ERROR(AddFeatureSpec(feature.key, feature.spec, &parser->specs));
      if (used_.count({node, feature.output}) == 0) continue;
      Shape shape = {serialized.dim(0)};
      for (const int64_t size : feature.spec.shape.dims()) shape.push_back(size);
      const auto at = static_cast<size_t>(feature.output);
      if (outputs.size() <= at) outputs.resize(at + 1);
      Tensor& placeholder = parser->features[feature.key];
      if (!placeholder.valid()) {
        placeholder =
            graph_.AddOp("Placeholder", {}, {{"dtype", feature.spec.dtype}, {"shape", shape}},
                         absl::StrCat(name, "/", feature.key));
      }
      outputs[at] = placeholder;
    }
    return outputs;
  }

  absl::StatusOr<std::vector<Tensor>> ImportParsedFeature(int node, const std::string& name,
                                                          const Tensor& serialized) {
    EST_ASSIGN_OR_RETURN(ImportedParser* const parser, ParserOf(serialized));
    const ParsedFeature& feature = parsed_.at(node).feature;
    const TensorSpec row = feature.result();
    Shape shape = {serialized.dim(0)};
    for (const int64_t size : row.shape.dims()) shape.push_back(size);
    const Tensor placeholder =
        graph_.AddOp("Placeholder", {}, {{"dtype", row.dtype}, {"shape", shape}}, name);
    EST_RETURN_IF_ERROR(AddFeatureSpec(feature.key, feature.spec, &parser->specs));
    if (!parser->features.emplace(feature.result_name(), placeholder).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the feature '", feature.result_name(), "' is parsed twice"));
    }
    return std::vector<Tensor>{placeholder};
  }

  // The parser of `serialized`, which must be a feed.
  absl::StatusOr<ImportedParser*> ParserOf(const Tensor& serialized) {
    const bool fed = std::any_of(result_.feeds.begin(), result_.feeds.end(),
                                 [&](const auto& feed) { return feed.second == serialized; });
    if (!fed || serialized.dtype() != DType::kString || serialized.rank() != 1) {
      return absl::UnimplementedError(
          absl::StrCat("the serialized Examples must be a feed, string [n], not ",
                       serialized.name(), ", ", serialized.spec().ToString()));
    }
    for (ImportedParser& parser : result_.parsers) {
      if (parser.serialized == serialized) return &parser;
    }
    result_.parsers.push_back({.serialized = serialized, .specs = {}, .features = {}});
    return &result_.parsers.back();
  }

  absl::StatusOr<std::vector<Tensor>> ImportOp(const proto::NodeDef& def, const std::string& name,
                                               std::vector<Tensor> inputs) {
    const ImportRule& rule = *FindImportRule(def.op());
    std::optional<std::string> problem;
    Attrs attrs = ReadAttrs(rule, def, problem);
    if (rule.convert != nullptr) {
      if (rule.num_inputs >= 0 && static_cast<size_t>(rule.num_inputs) != inputs.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("takes ", rule.num_inputs, " inputs, not ", inputs.size()));
      }
      return rule.convert({graph_, name, std::move(inputs), std::move(attrs)});
    }
    Node* const added = graph_.AddNode(rule.op, std::move(inputs), std::move(attrs), name);
    std::vector<Tensor> outputs;
    for (int i = 0; added != nullptr && i < added->num_outputs(); ++i)
      outputs.emplace_back(&graph_, added, i);
    return outputs;
  }

  // Returns a constant if the value is known already and small, else `output`.
  Tensor Folded(const Tensor& output, const std::string& name) {
    const Node& node = *output.node();
    const std::string& op = node.op();
    const bool of_shape = op == "Shape" || op == "Size" || op == "Rank";
    if (op == "Const" || node.def().stateful ||
        !HasElementsAtMost(output.shape(), kMaxFoldedElements))
      return output;
    for (const Tensor& input : node.inputs()) {
      const bool constant =
          input.node()->op() == "Const" && HasElementsAtMost(input.shape(), kMaxFoldedElements);
      if (!of_shape && !constant) return output;
    }
    const std::optional<Array> value = ConstantValue(output, kMaxFoldedElements);
    if (!value.has_value()) return output;
    return graph_.AddOp("Const", {}, {{"value", *value}, {"dtype", value->dtype()}},
                        name + "/folded");
  }

  const ImportOptions& options_;
  FlatGraph& flat_;
  Graph& graph_;
  std::map<FlatTensor, Tensor> given_;  // feeds and input_map
  std::set<FlatTensor> used_;
  ImportProblems problems_;
  struct ParsedNode {
    ParsedFeature feature;
    std::vector<FlatTensor> inputs;  // the serialized Examples
  };
  std::map<int, ParsedNode> parsed_;
  std::map<int, CheckpointSlice> slices_;
  std::vector<std::vector<Tensor>> values_;  // the outputs of each node of flat_
  ImportedGraph result_;
};

}  // namespace

absl::StatusOr<ImportedGraph> ImportGraphDef(const proto::GraphDef& graph_def,
                                             const ImportOptions& options, Graph& graph) {
  EST_RETURN_IF_ERROR(graph.status());
  const GraphScope scope(graph);
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<FlatGraph> flat, FlatGraph::Create(graph_def));
  return Importer(options, *flat, graph).Run();
}

absl::StatusOr<ImportedGraph> ImportSerializedGraphDef(absl::string_view graph_def,
                                                       const ImportOptions& options, Graph& graph) {
  proto::GraphDef def;
  if (!ParseWithinLimit(graph_def, &def)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot parse these ", graph_def.size(), " bytes as a GraphDef"));
  }
  return ImportGraphDef(def, options, graph);
}

}  // namespace estimator
