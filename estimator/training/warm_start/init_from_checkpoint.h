// train::InitFromCheckpoint: variables of a model start at values of a checkpoint. Call it in
// model_fn, or in scaffold_fn as BERT does:
//
//   auto [map, names] = train::GetAssignmentMapFromCheckpoint(graph.ModelVariables(), path);
//   options.scaffold_fn = [=, map = map] {
//     train::InitFromCheckpoint(path, map);
//     return Scaffold();
//   };
#ifndef ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_
#define ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_

#include "estimator/base/string_arg.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/warm_start/assignment_map.h"

namespace estimator::train {

// When training starts without a checkpoint of its own, the variables of `assignment_map` get these
// values, and their initializers do not run. A restored checkpoint, warm_start_from and
// Scaffold::init_fn take precedence. If a variable occurs twice, the later value counts. Names,
// shapes and dtypes are checked in this call; values are read when variables are initialized.
//   ckpt_dir_or_file: a prefix, a directory (its newest checkpoint), or a SavedModel's directory.
// Errors (kept by the graph): NOT_FOUND if there is no such checkpoint; NOT_FOUND or
// INVALID_ARGUMENT with one table of all variables that do not match the checkpoint.
// Source: TF 2.15 tf.compat.v1.train.init_from_checkpoint.
void InitFromCheckpoint(StringArg ckpt_dir_or_file, const AssignmentMap& assignment_map);

// Whether there is a readable checkpoint at this prefix, or in this directory.
// Source: TF 2.15 tf.compat.v1.train.checkpoint_exists.
bool CheckpointExists(StringArg ckpt_dir_or_file);

// tf.train.list_variables, load_checkpoint and load_variable, under TensorFlow's names.
using ::estimator::ListVariables;
using ::estimator::LoadCheckpoint;
using ::estimator::LoadVariable;

}  // namespace estimator::train

#endif  // ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_
