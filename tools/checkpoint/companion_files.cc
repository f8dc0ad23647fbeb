#include "tools/checkpoint/companion_files.h"

#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/proto/meta_graph.pb.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// Returns "node" for "^node", "node:1" and "node".
std::string NodeOf(absl::string_view tensor) {
  absl::ConsumePrefix(&tensor, "^");
  return std::string(tensor.substr(0, tensor.find(':')));
}

absl::Status CheckMetaGraph(const std::string& bytes) {
  const absl::string_view size_text = " bytes are not a MetaGraphDef";
  proto::MetaGraphDef meta_graph;
  if (!ParseWithinLimit(bytes, &meta_graph)) {
    return DataLoss("its ", bytes.size(), size_text);
  }
  std::set<std::string> names;
  for (const proto::NodeDef& node : meta_graph.graph_def().node()) {
    if (!names.insert(node.name()).second) {
      return DataLoss("two of its nodes are named ", node.name());
    }
  }
  if (names.empty()) {
    return DataLoss("its ", bytes.size(), size_text, " with a graph");
  }
  for (const proto::NodeDef& node : meta_graph.graph_def().node()) {
    for (const std::string& input : node.input()) {
      if (names.count(NodeOf(input)) > 0) continue;
      return DataLoss("its node ", node.name(), " reads ", input, ", but there is no node ",
                      NodeOf(input));
    }
  }
  const proto::SaverDef& saver = meta_graph.saver_def();
  for (const std::string& used :
       {saver.filename_tensor_name(), saver.save_tensor_name(), saver.restore_op_name()}) {
    if (used.empty() || names.count(NodeOf(used)) > 0) continue;
    return DataLoss("its saver uses ", used, ", but there is no node ", NodeOf(used));
  }
  return absl::OkStatus();
}

constexpr char kInputConsequence[] =
    "Delete it to continue training from this checkpoint, with the input from its start";
constexpr char kGraphConsequence[] =
    "The variables are not affected: only import_meta_graph reads it";

}  // namespace

absl::StatusOr<CompanionFilesReport> VerifyCompanionFiles(const std::string& prefix) {
  CompanionFilesReport report;
  const auto add = [&](const std::string& path, const absl::Status& status,
                       absl::string_view consequence) {
    if (status.ok()) {
      report.verified.push_back(path);
    } else {
      report.damage.push_back(absl::StrCat(path, ": ", status.message(), ". ", consequence));
    }
  };
  InputFile input;
  if (FileExists(InputStatePath(prefix))) {
    EST_ASSIGN_OR_RETURN(input, ReadInputFile(prefix));
    add(InputStatePath(prefix), CheckSealedState(input.state), kInputConsequence);
  }
  if (FileExists(MetaGraphPath(prefix))) {
    EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(MetaGraphPath(prefix)));
    absl::Status status = CheckMetaGraph(bytes);
    if (input.meta_graph) status.Update(CheckMetaGraphBytes(bytes, *input.meta_graph));
    add(MetaGraphPath(prefix), status, kGraphConsequence);
  }
  return report;
}

}  // namespace estimator
