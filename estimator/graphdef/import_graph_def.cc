#include "estimator/graphdef/import_graph_def.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/obstacles.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/import/parse_example_node.h"
#include "estimator/graphdef/import/plan.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// Errors: INVALID_ARGUMENT if the node cannot be fed with `spec`, or if the spec is not static.
absl::Status CheckFeed(absl::string_view name, const TensorSpec& spec, const proto::NodeDef& def) {
  const auto wrong = [&](absl::string_view what) {
    return InvalidArgument("feed '", name, "' is ", spec.ToString(), ", but ", what);
  };
  if (spec.dtype == DType::kInvalid) return wrong("a feed needs a dtype");
  if (!spec.shape.fully_known()) return wrong("shapes are static: give the batch size");
  if (!HasElementsAtMost(spec.shape, kMaxImportedElements)) return wrong("that is too large");
  // Any node can be fed, but only these state the dtype and the shape of their output.
  if (!IsOneOf(def.op(), {"Placeholder", "PlaceholderWithDefault"})) return absl::OkStatus();
  const proto::AttrValue *const dtype = FindAttr(def, "dtype"), *const shape =
                                                                    FindAttr(def, "shape");
  if (dtype != nullptr && ReadDType(dtype->type()) != spec.dtype)
    return wrong(absl::StrCat("the graph takes ", proto::DataType_Name(dtype->type())));
  if (shape == nullptr || shape->shape().unknown_rank()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const Shape wanted, ReadShapeProto(shape->shape()));
  // TensorFlow before 0.11 wrote an unknown shape as a scalar's.
  if (wanted.rank() == 0 || FitsShape(spec.shape, wanted)) return absl::OkStatus();
  return wrong(absl::StrCat("the graph takes ", wanted.ToString()));
}

class Importer {
 public:
  Importer(const ImportOptions& options, ImportSource& source, Graph& graph)
      : options_(options), source_(source), nodes_(*source.nodes), graph_(graph) {
    const absl::string_view prefix = absl::StripSuffix(options_.prefix, "/");
    if (!prefix.empty()) prefix_ = absl::StrCat(prefix, "/");
  }

  absl::StatusOr<ImportedGraph> Run() {
    // Feeds come first: nodes behind a given tensor are not resolved, so they may be unsupported.
    EST_RETURN_IF_ERROR(AddFeeds());
    PlanOptions wanted{.training = false, .fetches = {}, .values_only = true};
    std::vector<int> roots;
    for (const std::string& name : options_.fetches) {
      EST_ASSIGN_OR_RETURN(wanted.fetches.emplace_back(), Find(name, "fetch"));
      if (!nodes_.IsGiven(wanted.fetches.back())) roots.push_back(wanted.fetches.back().node);
    }
    EST_RETURN_IF_ERROR(nodes_.Resolve(roots, /*controls=*/false));
    EST_ASSIGN_OR_RETURN(const ImportPlan plan, MakeImportPlan(source_, wanted));
    EST_RETURN_IF_ERROR(ObstacleError(plan.obstacles, "the fetches need",
                                      "; fetch fewer tensors, or feed the outputs of these nodes"));
    if (!options_.restore.restore_op_name.empty()) {
      EST_ASSIGN_OR_RETURN(slices_, FindCheckpointSlices(options_.restore, nodes_));
    }
    used_ = UsedTensors(source_, plan, wanted.fetches);
    return Build(plan, wanted.fetches);
  }

 private:
  absl::StatusOr<ImportedGraph> Build(const ImportPlan& plan,
                                      const std::vector<FlatTensor>& fetches) {
    // No update is imported, so every node reads the same value of a variable.
    const auto read = [this](int variable, int) -> absl::StatusOr<Tensor> {
      return variables_.at(variable);
    };
    NodeBuilder builder(nodes_, *plan.order, *plan.branches, graph_, read,
                        {.prefix = prefix_,
                         .max_constant_bytes = options_.max_constant_bytes,
                         .unique_rows = &plan.unique_rows,
                         .where_rows = &plan.where_rows,
                         .bodies = &plan.bodies});
    for (const auto& [at, tensor] : given_) builder.Give(at, tensor);
    for (const int i : plan.order->sorted()) {
      const FlatNode& node = nodes_.node(i);
      // A loop builds its own nodes.
      if (!plan.Needs(i) || node.loop >= 0) continue;
      absl::Status status;
      if (IsVariableOp(node.op)) {
        status = AddVariable(i, builder.NameOf(i));
      } else if (node.parsed_feature != nullptr) {
        status = AddParsedFeature(i, builder);
      } else if (IsParseExampleOp(node.op)) {
        status = AddParseExample(i, builder);
      } else {
        EST_RETURN_IF_ERROR(builder.Build(i));
      }
      EST_RETURN_IF_ERROR(graph_.status());
      EST_RETURN_IF_ERROR(Annotate(status, nodes_.Where(i)));
    }
    for (const FlatTensor& fetch : fetches) {
      EST_ASSIGN_OR_RETURN(result_.fetches.emplace_back(), builder.Value(fetch, fetch.node));
    }
    return std::move(result_);
  }

  absl::StatusOr<FlatTensor> Find(absl::string_view name, absl::string_view what) {
    const absl::StatusOr<FlatTensor> found = nodes_.Find(name);
    return found.ok() ? found : Annotate(found.status(), absl::StrCat(what, " '", name, "'"));
  }

  absl::Status AddFeeds() {
    for (const auto& [name, tensor] : options_.input_map) {
      EST_ASSIGN_OR_RETURN(const FlatTensor at, Find(name, "input_map"));
      if (tensor.graph() != &graph_ || !tensor.valid()) {
        return InvalidArgument("input_map '", name, "' is not a tensor of the graph imported into");
      }
      given_.emplace(at, tensor);
    }
    for (const auto& [name, spec] : options_.feeds) {
      const absl::StatusOr<FlatTensor> found = Find(name, "feed");
      if (!found.ok()) {
        return absl::Status(found.status().code(),
                            absl::StrCat(found.status().message(),
                                         "; the graph's placeholders are ", nodes_.Placeholders()));
      }
      const FlatNode& node = nodes_.node(found->node);
      EST_RETURN_IF_ERROR(CheckFeed(name, spec, *node.def));
      const Tensor fed = AddPlaceholder(spec, absl::StrCat(prefix_, node.name));
      EST_RETURN_IF_ERROR(graph_.status());
      // The names `x` and `x:0` are different keys but the same tensor.
      if (!given_.emplace(*found, fed).second)
        return InvalidArgument("feed '", name, "' is given twice");
      result_.feeds.emplace(name, fed);
    }
    for (const auto& [at, tensor] : given_) nodes_.Give(at);
    return absl::OkStatus();
  }

  Tensor AddPlaceholder(const TensorSpec& spec, const std::string& name) {
    return graph_.AddOp("Placeholder", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}}, name);
  }

  // A placeholder [n, ...row] for the values of a feature in the n Examples of `serialized`.
  Tensor AddFeature(const Tensor& serialized, const TensorSpec& row, const std::string& name) {
    Shape shape = {serialized.dim(0)};
    for (const int64_t size : row.shape.dims()) shape.push_back(size);
    return AddPlaceholder({row.dtype, shape}, name);
  }

  absl::Status AddVariable(int node, const std::string& name) {
    EST_ASSIGN_OR_RETURN(const TensorSpec spec, VariableSpec(nodes_.node(node)));
    const Tensor variable =
        graph_.AddOp("VariableV2", {}, {{"dtype", spec.dtype}, {"shape", spec.shape}}, name);
    // The name in the checkpoint comes from the restore op if there is one. Otherwise a resource
    // variable is stored under its shared_name, a reference variable under the name of its node.
    const auto found = slices_.find(node);
    const proto::AttrValue* const shared = FindAttr(*nodes_.node(node).def, "shared_name");
    CheckpointSlice source{.name = nodes_.node(node).name};
    if (found != slices_.end()) {
      source = found->second;
    } else if (nodes_.op(node) == "VarHandleOp" && shared != nullptr && !shared->s().empty()) {
      source.name = shared->s();
    }
    variables_.emplace(node, variable);
    result_.variables.push_back({variable, std::move(source)});
    return absl::OkStatus();
  }

  absl::Status AddParseExample(int node, NodeBuilder& builder) {
    EST_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, builder.Inputs(node));
    EST_ASSIGN_OR_RETURN(const std::vector<DenseFeature> features,
                         DenseFeatures(*nodes_.node(node).def, inputs));
    EST_ASSIGN_OR_RETURN(ImportedParser* const parser, ParserOf(inputs[0]));
    std::vector<Tensor> outputs;
    for (const DenseFeature& feature : features) {
      EST_RETURN_IF_ERROR(AddFeatureSpec(feature.key, feature.spec, &parser->specs));
      if (used_.count({node, feature.output}) == 0) continue;
      const auto at = static_cast<size_t>(feature.output);
      if (outputs.size() <= at) outputs.resize(at + 1);
      // Nodes that parse the same feature of the same Examples share a placeholder.
      Tensor& placeholder = parser->features[feature.key];
      if (!placeholder.valid()) {
        placeholder = AddFeature(inputs[0], {feature.spec.dtype, feature.spec.shape},
                                 absl::StrCat(builder.NameOf(node), "/", feature.key));
      }
      outputs[at] = placeholder;
    }
    builder.SetValues(node, std::move(outputs));
    return absl::OkStatus();
  }

  absl::Status AddParsedFeature(int node, NodeBuilder& builder) {
    EST_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, builder.Inputs(node));
    EST_ASSIGN_OR_RETURN(ImportedParser* const parser, ParserOf(inputs[0]));
    const ParsedFeature& feature = *nodes_.node(node).parsed_feature;
    const Tensor placeholder = AddFeature(inputs[0], feature.result(), builder.NameOf(node));
    EST_RETURN_IF_ERROR(AddFeatureSpec(feature.key, feature.spec, &parser->specs));
    if (!parser->features.emplace(feature.result_name(), placeholder).second) {
      return InvalidArgument("the feature '", feature.result_name(), "' is parsed twice");
    }
    builder.SetValues(node, {placeholder});
    return absl::OkStatus();
  }

  // The parser of `serialized`, which must be a feed.
  absl::StatusOr<ImportedParser*> ParserOf(const Tensor& serialized) {
    // Examples are parsed on the host before the step, so the graph must not compute them.
    const bool fed = std::any_of(result_.feeds.begin(), result_.feeds.end(),
                                 [&](const auto& feed) { return feed.second == serialized; });
    if (!fed || serialized.dtype() != DType::kString || serialized.rank() != 1) {
      return Unimplemented("the serialized Examples must be a feed, string [n], not ",
                           serialized.name(), ", ", serialized.spec().ToString());
    }
    for (ImportedParser& parser : result_.parsers) {
      if (parser.serialized == serialized) return &parser;
    }
    result_.parsers.push_back({.serialized = serialized, .specs = {}, .features = {}});
    return &result_.parsers.back();
  }

  const ImportOptions& options_;
  ImportSource& source_;
  FlatGraph& nodes_;
  Graph& graph_;
  std::string prefix_;
  std::map<FlatTensor, Tensor> given_;  // feeds and input_map
  std::set<FlatTensor> used_;
  std::map<int, CheckpointSlice> slices_;
  std::map<int, Tensor> variables_;
  ImportedGraph result_;
};

}  // namespace

absl::StatusOr<ImportedGraph> ImportGraphDef(const proto::GraphDef& graph_def,
                                             const ImportOptions& options, Graph& graph) {
  EST_RETURN_IF_ERROR(graph.status());
  const GraphScope scope(graph);
  ImportSource source;
  source.info.role = TrainGraphRole::kPredict;
  EST_ASSIGN_OR_RETURN(source.nodes, FlatGraph::Create(graph_def));
  return Importer(options, source, graph).Run();
}

absl::StatusOr<ImportedGraph> ImportSerializedGraphDef(absl::string_view graph_def,
                                                       const ImportOptions& options, Graph& graph) {
  proto::GraphDef def;
  if (!ParseWithinLimit(graph_def, &def)) {
    return InvalidArgument("cannot parse these ", graph_def.size(), " bytes as a GraphDef");
  }
  return ImportGraphDef(def, options, graph);
}

}  // namespace estimator
