#include "estimator/training/warm_start/init_from_checkpoint.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/training/warm_start/checkpoint_initializer.h"
#include "glog/logging.h"

namespace estimator::train {
namespace {

absl::Status AddInitializers(Graph& graph, absl::string_view ckpt_dir_or_file,
                             const AssignmentMap& assignment_map) {
  EST_RETURN_IF_ERROR(graph.status());
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(ckpt_dir_or_file));
  EST_ASSIGN_OR_RETURN(auto wanted, ResolveAssignmentMap(graph, assignment_map));
  LOG_IF(WARNING, assignment_map.empty())
      << "InitFromCheckpoint: assignment_map is empty, so no variable starts at a value of "
      << reader->prefix() << ". If GetAssignmentMapFromCheckpoint returned it, none of the "
      << "variables has a name of the checkpoint's: map scopes, as in {\"old/\", \"new/\"}";
  for (WantedVariable& variable : wanted) {
    variable.stored_name = reader->NameOf(variable.stored_name);
  }
  EST_RETURN_IF_ERROR(CheckRestorable(*reader, wanted, CheckpointInitializerAdvice()));
  for (const WantedVariable& variable : wanted) {
    AddCheckpointInitializer(*graph.FindVariable(variable.name), reader->prefix(),
                             variable.stored_name);
  }
  return absl::OkStatus();
}

}  // namespace

void InitFromCheckpoint(StringArg ckpt_dir_or_file, const AssignmentMap& assignment_map) {
  Graph& graph = Graph::Current();
  const absl::Status status = AddInitializers(graph, ckpt_dir_or_file, assignment_map);
  // A graph that has failed before keeps its first error, which is the cause.
  if (status.ok() || !graph.status().ok()) return;
  graph.Fail(absl::Status(status.code(), absl::StrCat("InitFromCheckpoint: ", status.message())));
}

bool CheckpointExists(StringArg ckpt_dir_or_file) { return LoadCheckpoint(ckpt_dir_or_file).ok(); }

}  // namespace estimator::train
