#include "estimator/training/import_saved_model.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/copy_checkpoint.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/export/saved_model/find_saved_model.h"
#include "estimator/export/saved_model/saved_model_proto.h"
#include "estimator/export/saved_model/saved_model_writer.h"
#include "estimator/proto/saved_model.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr char kHowToExport[] =
    "export it again with its training: "
    "estimator.experimental_export_all_saved_models(DIR, {TRAIN: ..., EVAL: ..., PREDICT: ...}), "
    "or export_saved_model(DIR, receiver_fn, experimental_mode=tf.estimator.ModeKeys.TRAIN); or "
    "train from the .meta file of its model_dir";

bool HasTag(const proto::MetaGraphDef& graph, absl::string_view tag) {
  // The graph {serve, tpu} that a TPUEstimator exports too cannot be imported.
  return graph.meta_info_def().tags_size() == 1 && graph.meta_info_def().tags(0) == tag;
}

}  // namespace

absl::StatusOr<SavedModelGraphs> ReadSavedModelGraphs(StringArg saved_model_dir,
                                                      const TrainGraphOptions& options,
                                                      StringArg serving_signature) {
  const std::string dir(saved_model_dir);
  EST_ASSIGN_OR_RETURN(const proto::SavedModel model, ReadSavedModelProto(dir));
  std::vector<std::string> tags;
  SavedModelGraphs graphs;
  for (const proto::MetaGraphDef& graph : model.meta_graphs())
    tags.push_back(absl::StrCat("{", absl::StrJoin(graph.meta_info_def().tags(), ","), "}"));
  graphs.tags = absl::StrJoin(tags, ", ");
  const auto read = [&](absl::string_view tag, const TrainGraphOptions& of_tag,
                        std::optional<TrainGraph>& result) -> absl::Status {
    for (const proto::MetaGraphDef& graph : model.meta_graphs()) {
      if (!HasTag(graph, tag)) continue;
      EST_ASSIGN_OR_RETURN(result,
                           TrainGraph::Parse(graph.SerializeAsString(),
                                             absl::StrCat(dir, ", graph {", tag, "}"), of_tag));
      break;
    }
    return absl::OkStatus();
  };
  TrainGraphOptions train = options, eval = options, serve;
  train.role = TrainGraphRole::kTrain;
  eval.role = TrainGraphRole::kEval;
  // The options name the train_op of the training graph.
  eval.train_op = "";
  serve.role = TrainGraphRole::kPredict;
  serve.signature = std::string(serving_signature);
  EST_RETURN_IF_ERROR(read(kTrainingTag, train, graphs.train));
  EST_RETURN_IF_ERROR(read(kEvalTag, eval, graphs.eval));
  if (!graphs.train && !graphs.eval) {
    return NotFound(dir,
                    " has no graph with the tag `train` or `eval`; the tags of its graphs are ",
                    tags.empty() ? "none" : graphs.tags,
                    ". A graph to serve has no optimizer and no loss; ", kHowToExport);
  }
  EST_RETURN_IF_ERROR(read(kServingTag, serve, graphs.serve));
  return graphs;
}

absl::Status StartFromSavedModel(StringArg saved_model_dir, StringArg model_dir) {
  const std::string from(saved_model_dir), to(model_dir);
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> newest, LatestCheckpoint(to));
  // A run that has begun continues with its own checkpoints.
  if (newest.has_value()) return absl::OkStatus();
  if (!HoldsSavedModel(from)) return NoSavedModel(from);
  const std::string prefix = JoinPath(from, "variables", "variables");
  if (CheckpointModifiedTimeSeconds(prefix) == 0) {
    return NotFound(from, " has no variables (", prefix,
                    ".index): training has nothing to "
                    "continue from; copy the whole folder of the SavedModel");
  }
  EST_RETURN_IF_ERROR(CheckCheckpoint(prefix));
  const absl::StatusOr<Array> step = LoadVariable(prefix, "global_step");
  if (!step.ok()) {
    return NotFound(
        prefix, ": ", step.status().message(),
        ". The step of the SavedModel is not known; export it from an Estimator's model_dir");
  }
  const std::string base = absl::StrCat("model.ckpt-", static_cast<int64_t>(step->AsDouble()));
  EST_RETURN_IF_ERROR(CreateDirectories(to));
  // Training deletes old checkpoints, and must not delete the variables of the SavedModel.
  EST_RETURN_IF_ERROR(CopyCheckpoint(prefix, to, base));
  LOG(INFO) << "copied the variables of " << from << " to " << JoinPath(to, base);
  return absl::OkStatus();
}

}  // namespace estimator
