#include "estimator/export/saved_model/saved_model_reader.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/export/saved_model/saved_model_proto.h"
#include "estimator/export/signature/join_keys.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {
namespace {

constexpr char kVariables[] = "variables/variables";
constexpr char kInitOp[] = "__saved_model_init_op";
constexpr char kTrainOp[] = "__saved_model_train_op";

std::string TagsText(const proto::MetaGraphDef& graph) {
  return absl::StrCat("{", absl::StrJoin(graph.meta_info_def().tags(), ", "), "}");
}

absl::StatusOr<proto::MetaGraphDef> WithTags(proto::SavedModel model, absl::string_view path,
                                             const std::set<std::string>& tags) {
  std::vector<std::string> others;
  for (proto::MetaGraphDef& graph : *model.mutable_meta_graphs()) {
    const auto& own = graph.meta_info_def().tags();
    // As in TensorFlow's loader, all tags must be equal. A subset is not enough.
    if (std::set<std::string>(own.begin(), own.end()) == tags) return std::move(graph);
    others.push_back(TagsText(graph));
  }
  return NotFound(path, ": no graph has the tags {", absl::StrJoin(tags, ", "), "}; there ",
                  others.size() == 1 ? "is " : "are ",
                  others.empty() ? "none" : absl::StrJoin(others, ", "));
}

absl::StatusOr<SavedTensor> ReadTensorInfo(const proto::TensorInfo& info) {
  SavedTensor tensor{.tensor_name = info.name(), .dtype = ReadDType(info.dtype()), .shape = {}};
  if (info.has_tensor_shape() && !info.tensor_shape().unknown_rank()) {
    EST_ASSIGN_OR_RETURN(tensor.shape, ReadShapeProto(info.tensor_shape()));
  }
  return tensor;
}

absl::StatusOr<SavedSignature> ReadSignature(const proto::SignatureDef& def) {
  SavedSignature signature{.method_name = def.method_name(), .inputs = {}, .outputs = {}};
  for (const auto& [name, info] : def.inputs()) {
    EST_ASSIGN_OR_RETURN(signature.inputs[name], ReadTensorInfo(info));
  }
  for (const auto& [name, info] : def.outputs()) {
    EST_ASSIGN_OR_RETURN(signature.outputs[name], ReadTensorInfo(info));
  }
  return signature;
}

}  // namespace

struct SavedModelReader::Rep {
  std::string path;
  proto::MetaGraphDef graph;
  std::map<std::string, SavedSignature> signatures;
  std::unique_ptr<BundleReader> variables;  // null for a model without variables
};

SavedModelReader::SavedModelReader(std::unique_ptr<const Rep> rep) : rep_(std::move(rep)) {}
SavedModelReader::~SavedModelReader() = default;

absl::StatusOr<std::unique_ptr<SavedModelReader>> SavedModelReader::Open(
    absl::string_view path, const std::set<std::string>& tags) {
  auto rep = std::make_unique<Rep>();
  rep->path = std::string(path);
  std::string variables;
  if (absl::EndsWith(path, ".meta")) {
    EST_ASSIGN_OR_RETURN(rep->graph, ReadMetaGraph(path));
    variables = std::string(absl::StripSuffix(path, ".meta"));
  } else {
    EST_ASSIGN_OR_RETURN(proto::SavedModel model, ReadSavedModelProto(path));
    EST_ASSIGN_OR_RETURN(rep->graph, WithTags(std::move(model), path, tags));
    variables = JoinPath(path, kVariables);
  }
  absl::StatusOr<std::unique_ptr<BundleReader>> reader = BundleReader::Open(variables);
  if (reader.ok()) {
    rep->variables = *std::move(reader);
    // A model without variables has no checkpoint; a damaged one is an error.
  } else if (!absl::IsNotFound(reader.status())) {
    return reader.status();
  }
  for (const auto& [name, def] : rep->graph.signature_def()) {
    // TensorFlow lists ops among the signatures, and these have no tensors.
    if (name == kInitOp || name == kTrainOp) continue;
    absl::StatusOr<SavedSignature> signature = ReadSignature(def);
    if (!signature.ok()) {
      return DataLoss(path, ": signature '", name, "': ", signature.status().message());
    }
    rep->signatures.emplace(name, *std::move(signature));
  }
  return absl::WrapUnique(new SavedModelReader(std::move(rep)));
}

const std::map<std::string, SavedSignature>& SavedModelReader::signatures() const {
  return rep_->signatures;
}

absl::StatusOr<SavedSignature> SavedModelReader::Signature(absl::string_view name) const {
  const auto found = rep_->signatures.find(std::string(name));
  if (found != rep_->signatures.end()) return found->second;
  if (rep_->signatures.empty()) {
    return NotFound(
        rep_->path,
        " has no signatures; the .meta file of a checkpoint contains only the training graph: "
        "export a SavedModel with ExportSavedModel, or ",
        HowToNameTensors(rep_->graph.graph_def()));
  }
  return NotFound(rep_->path, " has no signature '", name,
                  "'; it has: ", JoinKeys(rep_->signatures));
}

absl::StatusOr<SignatureGraph> SavedModelReader::Import(const SavedSignature& signature,
                                                        const InputShapes& input_shapes) const {
  ImportOptions import;
  // A variable may have another name in the checkpoint, which only the restore op tells.
  import.restore.restore_op_name =
      rep_->variables == nullptr ? "" : rep_->graph.saver_def().restore_op_name();
  for (const auto& [name, shape] : input_shapes) {
    const auto input = signature.inputs.find(name);
    if (input == signature.inputs.end()) {
      return InvalidArgument("the signature has no input '", name, "'; it has ",
                             JoinKeys(signature.inputs));
    }
    import.feeds[input->second.tensor_name] = {input->second.dtype, shape};
  }
  for (const auto& [name, output] : signature.outputs) {
    if (output.tensor_name.empty()) return Unimplemented("output '", name, "' is a sparse tensor");
    import.fetches.push_back(output.tensor_name);
  }
  SignatureGraph result;
  result.graph = std::make_unique<Graph>();
  absl::StatusOr<ImportedGraph> imported =
      ImportGraphDef(rep_->graph.graph_def(), import, *result.graph);
  if (!imported.ok()) return Annotate(imported.status(), rep_->path);
  for (const auto& [name, shape] : input_shapes)
    result.inputs[name] = imported->feeds.at(signature.inputs.at(name).tensor_name);
  auto fetch = imported->fetches.begin();
  for (const auto& [name, output] : signature.outputs) result.outputs[name] = *fetch++;
  result.parsers = std::move(imported->parsers);
  result.variables = std::move(imported->variables);
  return result;
}

absl::Status SavedModelReader::LoadVariables(const std::vector<ImportedVariable>& variables,
                                             VariableStore& store) const {
  for (const ImportedVariable& variable : variables) {
    const std::string& name = variable.variable.node()->name();
    // Signatures of one model share their variables, which are read once.
    if (store.Has(name) && store.initialized(name)) continue;
    if (rep_->variables == nullptr) {
      return NotFound(rep_->path, ": variable '", name,
                      "' is needed, but there is no checkpoint beside the "
                      "graph");
    }
    EST_ASSIGN_OR_RETURN(const Array value, ReadVariable(variable, *rep_->variables));
    EST_RETURN_IF_ERROR(store.Set(name, value));
  }
  return absl::OkStatus();
}

}  // namespace estimator
