#include "estimator/export/saved_model/saved_model_writer.h"

#include <google/protobuf/text_format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/export/saved_model/assets.h"
#include "estimator/export/saved_model/variable_nodes.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/proto/saved_model.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int kMaxAttempts = 10;

bool HasUpdateRules(const proto::GraphDef& graph) {
  for (const proto::NodeDef& node : graph.node()) {
    if (absl::StartsWith(node.op(), "Apply")) return true;
  }
  return false;
}

// Makes the loader initialize the local variables, such as the totals of metrics.
void AddMainOp(const Graph& graph, proto::MetaGraphDef* meta_graph) {
  std::vector<std::string> initializers;
  for (const Variable& variable : graph.variables()) {
    // Other variables come from the checkpoint.
    if (variable.local()) initializers.push_back(absl::StrCat("^", variable.name(), "/Assign"));
  }
  if (initializers.empty()) return;
  GraphDefBuilder builder(meta_graph->mutable_graph_def());
  const std::string name = builder.UniqueScope("local_init_op");
  builder.Add(name, "NoOp", initializers);
  (*meta_graph->mutable_collection_def())["saved_model_main_op"].mutable_node_list()->add_value(
      name);
}

absl::Status WriteVariables(const std::string& dir, const VariableStore& variables) {
  const std::string variables_dir = JoinPath(dir, "variables");
  EST_RETURN_IF_ERROR(CreateDirectories(variables_dir));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer,
                       BundleWriter::Open(JoinPath(variables_dir, "variables")));
  for (const std::string& name : variables.Names())
    EST_RETURN_IF_ERROR(writer->Add(name, *variables.Peek(name)));
  return writer->Finish();
}

absl::Status CopyAssetsExtra(const std::string& dir,
                             const std::map<std::string, std::string>& assets) {
  for (const auto& [to, from] : assets) {
    const std::vector<absl::string_view> parts = absl::StrSplit(to, '/');
    bool leaves = to.empty() || to[0] == '/';
    // The path may come from a config; it must not leave the export.
    for (const absl::string_view part : parts) leaves |= part == "..";
    if (leaves) {
      return InvalidArgument("assets_extra: '", to,
                             "' must be a path below assets.extra/, without '..'");
    }
    const std::string path = JoinPath(dir, "assets.extra", to);
    EST_RETURN_IF_ERROR(CreateDirectories(Dirname(path)));
    EST_RETURN_IF_ERROR(CopyFile(from, path));
  }
  return absl::OkStatus();
}

// Creates `temporary` for this call only. If several exports try, in any process, one mkdir
// succeeds.
// Returns false if another export has `temporary`, or has already made `dir`. `dir` is checked
// after the mkdir: from then on no other export can create it.
// A remote file system has no mkdir: there, two exports of one second would write to one folder.
absl::StatusOr<bool> Claim(const std::string& temporary, const std::string& dir) {
  if (IsRemotePath(dir)) {
    EST_ASSIGN_OR_RETURN(const bool exists, Exists(dir));
    return !exists;
  }
  if (::mkdir(temporary.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    return FileError(errno, "create directory", temporary);
  }
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(dir));
  if (!exists) return true;
  EST_RETURN_IF_ERROR(RemoveDirectoryRecursively(temporary));
  return false;
}

// Returns advice on how to make a SavedModel smaller. The size of a graph is the size of its
// constants, so it names the largest.
std::string CureOfSize(const proto::SavedModel& model) {
  size_t largest = 0;
  std::string name, tags;
  for (const proto::MetaGraphDef& meta_graph : model.meta_graphs()) {
    for (const proto::NodeDef& node : meta_graph.graph_def().node()) {
      const size_t bytes = node.ByteSizeLong();
      if (bytes <= largest) continue;
      largest = bytes;
      name = node.name();
      tags = absl::StrJoin(meta_graph.meta_info_def().tags(), ",");
    }
  }
  return absl::StrCat(
      "the largest of its nodes is '", name, "' with ", HumanBytes(static_cast<int64_t>(largest)),
      ", in the graph with the tags {", tags,
      "}. Make such a constant a variable, with trainable = false, whose value comes from "
      "Scaffold::init_fn or a checkpoint: variables/ has no limit",
      model.meta_graphs_size() > 1 ? "; or export fewer modes in one SavedModel" : "");
}

}  // namespace

proto::MetaGraphDef MakeMetaGraph(const ExportGraphDef& model,
                                  const std::vector<std::string>& tags) {
  proto::MetaGraphDef meta_graph;
  auto& info = *meta_graph.mutable_meta_info_def();
  for (const std::string& tag : tags) info.add_tags(tag);
  *meta_graph.mutable_graph_def() = model.graph_def;
  for (const auto& [key, signature] : model.signature_defs)
    (*meta_graph.mutable_signature_def())[key] = signature;
  const Graph& graph = *model.built.graph;
  // Update rules take references; TensorFlow 2 can only lift resource variables out of a graph.
  const bool is_resource = !HasUpdateRules(model.graph_def);
  if (is_resource) UseResourceVariables(graph, meta_graph.mutable_graph_def());
  AddVariableCollections(graph, is_resource, &meta_graph);
  std::vector<Variable> saved;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) saved.push_back(variable);
  }
  AddSaverNodes(saved, is_resource, &meta_graph);
  AddMainOp(graph, &meta_graph);
  if (model.built.train_op.valid()) {
    (*meta_graph.mutable_collection_def())["train_op"].mutable_node_list()->add_value(
        model.built.train_op.name());
  }
  return meta_graph;
}

absl::Status WriteSavedModel(const std::string& dir, const SavedModelContents& contents) {
  EST_ASSIGN_OR_RETURN(const std::vector<Asset> assets, NameAssets(contents.assets));
  proto::SavedModel model;
  model.set_saved_model_schema_version(1);
  for (const proto::MetaGraphDef& meta_graph : contents.meta_graphs) {
    *model.add_meta_graphs() = meta_graph;
    AddAssets(assets, model.mutable_meta_graphs(model.meta_graphs_size() - 1));
  }
  const char* const file = contents.as_text ? "saved_model.pbtxt" : "saved_model.pb";
  std::string bytes;
  if (contents.as_text) {
    CHECK(google::protobuf::TextFormat::PrintToString(model, &bytes));
  } else {
    EST_ASSIGN_OR_RETURN(bytes,
                         SerializeWithinLimit(model, file, CureOfSize(model), contents.max_bytes));
  }
  // Nothing is written before the size of the graphs is known to be allowed.
  EST_RETURN_IF_ERROR(CreateDirectories(dir));
  EST_RETURN_IF_ERROR(WriteVariables(dir, *contents.variables));
  EST_RETURN_IF_ERROR(CopyAssets(dir, assets));
  EST_RETURN_IF_ERROR(CopyAssetsExtra(dir, contents.assets_extra));
  // Last, because a folder without this file is not a SavedModel.
  return WriteFileAtomically(JoinPath(dir, file), bytes);
}

absl::StatusOr<std::string> WriteTimestampedExport(
    const std::string& base, const std::function<absl::Status(const std::string& dir)>& write,
    const ExportClock& clock) {
  if (base.empty()) return InvalidArgument("export_dir_base must be given");
  EST_RETURN_IF_ERROR(CreateDirectories(base));
  for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    const int64_t now = clock.now_secs ? clock.now_secs() : static_cast<int64_t>(time(nullptr));
    const std::string dir = JoinPath(base, absl::StrCat(now));
    // Remote folders cannot be renamed. One is a SavedModel when saved_model.pb appears in it.
    const std::string temporary =
        IsRemotePath(base) ? dir : JoinPath(base, absl::StrCat("temp-", now));
    EST_ASSIGN_OR_RETURN(const bool claimed, Claim(temporary, dir));
    if (claimed) {
      const std::string where = absl::StrCat("exporting to ", dir);
      absl::Status written = write(temporary);
      // The rename is what makes the export appear, whole.
      if (written.ok() && temporary != dir) written = RenameFile(temporary, dir);
      if (!written.ok()) {
        const absl::Status removed = RemoveDirectoryRecursively(temporary);
        if (!removed.ok()) LOG(WARNING) << removed;
        return Annotate(written, where);
      }
      EST_RETURN_IF_ERROR(Annotate(SyncDirectory(base), where));
      return dir;
    }
    LOG(WARNING) << "Directory " << dir << " or " << temporary
                 << " already exists; retrying (attempt " << attempt << "/" << kMaxAttempts << ")";
    if (clock.wait_a_second) {
      clock.wait_a_second();
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
  return absl::AbortedError(absl::StrCat("Failed to obtain a unique export directory name in ",
                                         base, " after ", kMaxAttempts, " attempts."));
}

}  // namespace estimator
