// The graphs of a SavedModel in which TensorFlow kept a whole training, and its variables:
//
//   estimator.experimental_export_all_saved_models(DIR, {TRAIN: ..., EVAL: ..., PREDICT: ...})
//   estimator.export_saved_model(DIR, receiver_fn, experimental_mode=TRAIN)
// ImportModelFn (import_model_fn.h) takes the same folders.
#ifndef ESTIMATOR_TRAINING_IMPORT_SAVED_MODEL_H_
#define ESTIMATOR_TRAINING_IMPORT_SAVED_MODEL_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

// Those graphs of a SavedModel that exist, at least one of `train` and `eval`.
struct SavedModelGraphs {
  std::optional<TrainGraph> train, eval, serve;
  std::string tags;  // of all graphs of the file, for messages: "{train}, {eval}, {serve}"
};

// Reads the graphs with the tags `train`, `eval` and `serve`.
//   options: train_op is for the graph `train`, loss and inputs are for `train` and `eval`.
//   serving_signature: what the graph `serve` computes; "": `serving_default`, or the only one.
// Errors: NOT_FOUND if the folder has no SavedModel, or if it has neither `train` nor `eval`, with
// the tags that it has; those of TrainGraph::Parse.
absl::StatusOr<SavedModelGraphs> ReadSavedModelGraphs(StringArg saved_model_dir,
                                                      const TrainGraphOptions& options = {},
                                                      StringArg serving_signature = "");

// Makes the variables of a SavedModel the first checkpoint of `model_dir`, so that training
// continues from them: model.ckpt-N, where N is the SavedModel's global_step. Does nothing if
// model_dir has a checkpoint. The SavedModel stays as it is.
// Errors: NOT_FOUND if the SavedModel has no variables, or no variable global_step; those of files.
absl::Status StartFromSavedModel(StringArg saved_model_dir, StringArg model_dir);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_IMPORT_SAVED_MODEL_H_
