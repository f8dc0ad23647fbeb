#include "estimator/graphdef/import/import_source.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/find_training.h"
#include "estimator/graphdef/import/meta_graph_signature.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/variable.pb.h"

namespace estimator {
namespace {

constexpr int64_t kMaxTagBytes = 1 << 16;

// The string of a constant; nullopt if the tensor is none.
std::optional<std::string> ConstString(const FlatGraph& nodes, FlatTensor tensor) {
  const proto::NodeDef& def = *nodes.node(tensor.node).def;
  const proto::AttrValue* const value = FindAttr(def, "value");
  if (def.op() != "Const" || value == nullptr) return std::nullopt;
  const absl::StatusOr<Array> array = ReadTensorProto(value->tensor(), kMaxTagBytes);
  if (!array.ok() || array->dtype() != DType::kString || array->num_elements() != 1)
    return std::nullopt;
  return array->values<std::string>()[0];
}

// The variables of a collection. Messages of another type under this name are left out.
std::vector<proto::VariableDef> VariableDefs(const proto::MetaGraphDef& meta,
                                             const char* collection) {
  std::vector<proto::VariableDef> defs;
  const auto found = meta.collection_def().find(collection);
  if (found == meta.collection_def().end()) return defs;
  for (const std::string& bytes : found->second.bytes_list().value()) {
    proto::VariableDef def;
    if (def.ParseFromString(bytes)) defs.push_back(std::move(def));
  }
  return defs;
}

std::string NameOf(const proto::VariableDef& def) {
  return std::string(absl::StripSuffix(def.variable_name(), ":0"));
}

void AddVariables(const char* collection, bool local, ImportSource& source, bool listed = true) {
  for (const proto::VariableDef& def : VariableDefs(source.meta_graph, collection)) {
    SourceVariable variable;
    variable.name = NameOf(def);
    variable.node = source.nodes->FindOp(variable.name).value_or(-1);
    if (variable.node < 0 || !IsVariableOp(source.nodes->op(variable.node))) continue;
    // metric_variables repeats what local_variables has.
    const bool known =
        std::any_of(source.variables.begin(), source.variables.end(),
                    [&](const SourceVariable& other) { return other.node == variable.node; });
    if (known) continue;
    const absl::StatusOr<FlatTensor> initial = source.nodes->Find(def.initial_value_name());
    // Without an initial value, the variable can still be restored from a checkpoint.
    if (initial.ok()) variable.initial_value = *initial;
    variable.local = local;
    variable.listed = listed;
    if (def.has_save_slice_info_def()) {
      const proto::SaveSliceInfoDef& slice = def.save_slice_info_def();
      const auto &whole = slice.full_shape(), &part = slice.var_shape();
      // A partitioner makes one part of a small variable. Checkpoints have it by the name of the
      // whole.
      if (std::equal(whole.begin(), whole.end(), part.begin(), part.end())) {
        if (!slice.full_name().empty()) variable.name = slice.full_name();
      } else {
        variable.whole = slice.full_name();
        variable.whole_shape = Shape({whole.begin(), whole.end()});
        variable.begin.assign(slice.var_offset().begin(), slice.var_offset().end());
      }
    }
    source.variables.push_back(std::move(variable));
  }
}

// Variables that a Session program made with collections=[], for a Saver with a list of its own.
void AddUnlistedVariables(ImportSource& source) {
  FlatGraph& nodes = *source.nodes;
  std::map<int, FlatTensor> unlisted;
  for (int i = 0; i < nodes.size(); ++i)
    if (IsVariableOp(nodes.op(i))) unlisted.emplace(i, FlatTensor{-1, 0});
  for (const SourceVariable& variable : source.variables) unlisted.erase(variable.node);
  for (int i = 0; i < nodes.size() && !unlisted.empty(); ++i) {
    const std::vector<FlatTensor>& inputs = nodes.node(i).inputs;
    if (!IsOneOf(nodes.op(i), {"Assign", "AssignVariableOp"}) || inputs.size() != 2) continue;
    const auto found = unlisted.find(inputs[0].node);
    // The first assignment of a variable is its initializer.
    if (found != unlisted.end() && found->second.node < 0) found->second = inputs[1];
  }
  for (const auto& [node, initial] : unlisted) {
    SourceVariable& variable = source.variables.emplace_back();
    variable.node = node;
    variable.name = nodes.node(node).name;
    variable.initial_value = initial;
    variable.listed = false;
  }
}

void AddVariables(ImportSource& source) {
  AddVariables("variables", /*local=*/false, source);
  AddVariables("local_variables", /*local=*/true, source);
  AddVariables("metric_variables", /*local=*/true, source);
  // Those that are in none of the above: the default Saver does not save them.
  AddVariables("trainable_variables", /*local=*/false, source, /*listed=*/false);
  AddVariables("model_variables", /*local=*/false, source, /*listed=*/false);
  AddUnlistedVariables(source);
  // VariableDef::trainable is missing in files of early versions: the collection decides.
  std::set<std::string> trainable;
  for (const proto::VariableDef& def : VariableDefs(source.meta_graph, "trainable_variables"))
    trainable.insert(NameOf(def));
  for (SourceVariable& variable : source.variables) {
    variable.trainable =
        !variable.local && trainable.count(source.nodes->node(variable.node).name) > 0;
    const std::string& name = variable.whole.empty() ? variable.name : variable.whole;
    const auto add = [&name](std::vector<std::string>& names) {
      // The parts of a whole follow each other.
      if (names.empty() || names.back() != name) names.push_back(name);
    };
    if (!variable.local && variable.listed) add(source.info.variables);
    if (variable.trainable) add(source.info.trainable_variables);
  }
}

void AddSummaries(ImportSource& source) {
  for (const std::string& name : NodeList(source.meta_graph, "summaries")) {
    const absl::StatusOr<FlatTensor> at = source.nodes->Find(name);
    if (!at.ok()) continue;
    const FlatNode& node = source.nodes->node(at->node);
    if (node.inputs.size() < 2) continue;
    SourceSummary summary;
    if (node.op == "ScalarSummary") {
      summary.kind = SummaryRequest::Kind::kScalar;
    } else if (node.op == "HistogramSummary") {
      summary.kind = SummaryRequest::Kind::kHistogram;
    } else if (node.op == "ImageSummary") {
      summary.kind = SummaryRequest::Kind::kImage;
      const proto::AttrValue* const max_images = FindAttr(*node.def, "max_images");
      if (max_images != nullptr)
        // A number from a malformed file need not fit an int.
        summary.max_outputs = static_cast<int>(std::clamp<int64_t>(max_images->i(), 1, 1000));
    } else {
      continue;
    }
    const std::optional<std::string> tag = ConstString(*source.nodes, node.inputs[0]);
    // A tag that the graph computes is not known here, and a summary is not needed to train.
    if (!tag.has_value()) continue;
    summary.tag = *tag;
    summary.value = node.inputs[1];
    source.info.summaries.push_back(*tag);
    source.summaries.push_back(std::move(summary));
  }
}

TrainGraphInput DescribeInput(const ImportSource& source, FlatTensor at, const std::string* key) {
  const FlatNode& node = source.nodes->node(at.node);
  TrainGraphInput input;
  input.name = absl::StrCat(node.name, ":", at.output);
  if (key != nullptr) input.key = *key;
  const char* types_name = node.op == "Placeholder"                    ? "dtype"
                           : absl::StartsWith(node.op, "QueueDequeue") ? "component_types"
                                                                       : "output_types";
  if (const proto::AttrValue* const types = FindAttr(*node.def, types_name)) {
    if (types->value_case() == proto::AttrValue::kType) {
      input.dtype = ReadDType(types->type());
    } else if (at.output < types->list().type_size()) {
      input.dtype = ReadDType(static_cast<proto::DataType>(types->list().type(at.output)));
    }
  }
  const proto::TensorShapeProto* shape = nullptr;
  // Shape inference wrote the first, which knows most.
  for (const char* name : {"_output_shapes", "output_shapes", "shape"}) {
    const proto::AttrValue* const shapes = FindAttr(*node.def, name);
    if (shapes == nullptr || shape != nullptr) continue;
    if (shapes->value_case() == proto::AttrValue::kShape) {
      shape = &shapes->shape();
    } else if (at.output < shapes->list().shape_size()) {
      shape = &shapes->list().shape(at.output);
    }
  }
  const absl::StatusOr<Shape> known =
      shape == nullptr || shape->unknown_rank() ? NotFound("") : ReadShapeProto(*shape);
  // Before TensorFlow 0.12 a placeholder of unknown shape was written as a scalar.
  constexpr int kFirstWithUnknownRank = 24;
  const bool early = source.meta_graph.graph_def().versions().producer() < kFirstWithUnknownRank &&
                     node.op == "Placeholder" && FindAttr(*node.def, "_output_shapes") == nullptr;
  input.rank_known = known.ok() && !(early && known->rank() == 0);
  if (input.rank_known) input.shape = *known;
  return input;
}

int NumOutputs(const proto::NodeDef& def) {
  for (const char* name : {"output_types", "component_types"}) {
    const proto::AttrValue* const types = FindAttr(def, name);
    if (types != nullptr) return types->list().type_size();
  }
  return 1;
}

// Tensors with the same value in each step.
absl::Status AddFeeds(const TrainGraphOptions& options, ImportSource& source) {
  for (const auto& [name, value] : options.feeds) {
    const absl::StatusOr<FlatTensor> at = source.nodes->Find(name);
    if (!at.ok()) return Annotate(at.status(), "TrainGraphOptions::feeds, --feed");
    const TrainGraphInput wanted = DescribeInput(source, *at, nullptr);
    // A number of a flag has no dtype of its own.
    const bool number = value.dtype() == DType::kFloat64 && value.shape().rank() == 0;
    const bool cast = number && wanted.dtype != DType::kString && wanted.dtype != DType::kBool;
    const bool fits = wanted.dtype == DType::kInvalid || wanted.dtype == value.dtype() || cast;
    const bool shape_fits = !wanted.rank_known || FitsShape(value.shape(), wanted.shape);
    if (!fits || !shape_fits) {
      return InvalidArgument("TrainGraphOptions::feeds, --feed: ", name, " is ", wanted.ToString(),
                             ", but the value is ", value.TypeString());
    }
    source.nodes->Give(*at);
    source.feeds.emplace(*at, cast ? value.Cast(wanted.dtype) : value);
  }
  return absl::OkStatus();
}

// The tensors whose values the updates and the loss of a step need. What only an Assert or a
// summary reads is not among them.
std::set<FlatTensor> ReadTensors(const FlatGraph& nodes, const std::vector<int>& reached,
                                 FlatTensor loss) {
  std::set<FlatTensor> read = {loss};
  std::vector<int> roots;
  if (loss.node >= 0 && !nodes.IsGiven(loss)) roots.push_back(loss.node);
  for (const int i : reached)
    if (FindWriteRule(nodes.op(i)) != nullptr) roots.push_back(i);
  std::vector<bool> seen(static_cast<size_t>(nodes.size()), false);
  while (!roots.empty()) {
    const int at = roots.back();
    roots.pop_back();
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    for (const FlatTensor& input : nodes.node(at).inputs) {
      read.insert(input);
      if (!nodes.IsGiven(input)) roots.push_back(input.node);
    }
    // A branch of tf.cond that reads nothing outside has its condition by a control input only, an
    // Identity of a Switch.
    for (const int control : nodes.node(at).controls) {
      const std::vector<FlatTensor>& from = nodes.node(control).inputs;
      if (IsSwitchOp(nodes.op(control)) || (from.size() == 1 && IsSwitchOp(nodes.op(from[0].node))))
        roots.push_back(control);
    }
  }
  return read;
}

// The places where the input enters: what the loss and train_op reach.
absl::Status AddInputs(const TrainGraphOptions& options, ImportSource& source) {
  FlatGraph& nodes = *source.nodes;
  if (!options.inputs.empty()) {
    source.inputs.clear();
    for (const std::string& name : options.inputs) {
      const absl::StatusOr<FlatTensor> at = nodes.Find(name);
      if (!at.ok()) return Annotate(at.status(), "TrainGraphOptions::inputs, --placeholders");
      source.inputs.push_back(*at);
    }
  } else if (source.inputs.empty()) {
    std::vector<int> roots = source.train_ops;
    if (source.loss.node >= 0) roots.push_back(source.loss.node);
    std::vector<int> reached = nodes.Reached(roots, true);
    // The order of the GraphDef is the order in which the program made its placeholders.
    std::sort(reached.begin(), reached.end());
    const std::set<FlatTensor> read = ReadTensors(nodes, reached, source.loss);
    for (const int i : reached) {
      if (!IsInputOp(nodes.op(i))) continue;
      // input_fn returns all that an iterator gives, but the queue of numpy_input_fn adds the
      // number of the row, and a placeholder that nothing reads needs no value.
      const bool all = absl::StartsWith(nodes.op(i), "Iterator");
      for (int k = 0; k < NumOutputs(*nodes.node(i).def); ++k) {
        if (source.feeds.count({i, k}) == 0 && (all || read.count({i, k}) > 0))
          source.inputs.push_back({i, k});
      }
    }
  }
  for (const FlatTensor& at : source.inputs) {
    // The import ends at an input, so the pipeline behind it need not be supported.
    nodes.Give(at);
    const auto key = source.input_keys.find(at);
    source.info.inputs.push_back(
        DescribeInput(source, at, key == source.input_keys.end() ? nullptr : &key->second));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> NodeList(const proto::MetaGraphDef& meta, const char* name) {
  const auto found = meta.collection_def().find(name);
  if (found == meta.collection_def().end()) return {};
  return {found->second.node_list().value().begin(), found->second.node_list().value().end()};
}

std::string TrainGraphInput::ToString() const {
  return absl::StrCat(key.empty() ? name : absl::StrCat(key, " (", name, ")"), ": ",
                      DTypeName(dtype), " ", rank_known ? shape.ToString() : "of unknown shape");
}

std::string InputList(const TrainGraphInfo& info) {
  std::vector<std::string> names;
  for (const TrainGraphInput& input : info.inputs) names.push_back(input.ToString());
  return names.empty() ? "none" : JoinSome(names, 20);
}

bool FitsInput(const Tensor& given, const TrainGraphInput& wanted) {
  return given.dtype() == wanted.dtype &&
         (!wanted.rank_known || FitsShape(given.shape(), wanted.shape));
}

absl::Status ReadImportSource(const TrainGraphOptions& options, ImportSource& source) {
  EST_ASSIGN_OR_RETURN(source.nodes, FlatGraph::Create(source.meta_graph.graph_def()));
  EST_RETURN_IF_ERROR(source.nodes->AddAll());
  source.info.tensorflow_version = source.meta_graph.meta_info_def().tensorflow_version();
  source.info.role = options.role;
  AddVariables(source);
  // Before FindLoss, which looks for the Estimator's summary of the loss.
  AddSummaries(source);
  EST_RETURN_IF_ERROR(ReadMetaGraphSignature(options, source));
  if (options.role == TrainGraphRole::kTrain) EST_RETURN_IF_ERROR(FindTrainOps(options, source));
  if (options.role != TrainGraphRole::kPredict) EST_RETURN_IF_ERROR(FindLoss(options, source));
  for (const std::string& name : NodeList(source.meta_graph, "update_ops")) {
    const absl::StatusOr<int> op = source.nodes->FindOp(name);
    if (op.ok()) source.update_ops.push_back(*op);
  }
  source.stored_step_name = options.global_step;
  EST_RETURN_IF_ERROR(AddFeeds(options, source));
  // Last: without a signature, the inputs are those that the loss and train_op reach.
  return AddInputs(options, source);
}

}  // namespace estimator
