#include "estimator/training/warm_start/init_from_checkpoint.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/object_names.h"
#include "estimator/training/warm_start/checkpoint_initializer.h"

namespace estimator::train {
namespace {

RestoreAdvice Advice() {
  return {
      .renamed = "renamed: map it in assignment_map",
      .missing = "not in the checkpoint: leave it out of assignment_map",
      .slot = "a slot or an average that was not saved: leave it out of assignment_map",
      .other_size =
          "another size of the network: use its settings, or leave it out of "
          "assignment_map",
      .other_network = "another size: leave it out of assignment_map",
      .unwanted = "",
      .closing = "GetAssignmentMapFromCheckpoint returns a map of those that the checkpoint has"};
}

absl::Status AddInitializers(Graph& graph, absl::string_view ckpt_dir_or_file,
                             const AssignmentMap& assignment_map) {
  EST_RETURN_IF_ERROR(graph.status());
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(ckpt_dir_or_file));
  EST_ASSIGN_OR_RETURN(auto wanted, ResolveAssignmentMap(graph, assignment_map));
  EST_ASSIGN_OR_RETURN(const ObjectNames objects, ObjectNames::Of(*reader));
  for (WantedVariable& variable : wanted) {
    variable.stored_name = objects.Stored(variable.stored_name);
  }
  EST_RETURN_IF_ERROR(CheckRestorable(*reader, wanted, Advice()));
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
