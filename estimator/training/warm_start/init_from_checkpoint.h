// train::InitFromCheckpoint: variables of a model begin at values of a checkpoint. In model_fn, or
// in scaffold_fn, as BERT does:
//
//   auto [map, names] = train::GetAssignmentMapFromCheckpoint(graph.TrainableVariables(), path);
//   options.scaffold_fn = [=, map = map] {
//     train::InitFromCheckpoint(path, map);
//     return Scaffold();
//   };
#ifndef ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_
#define ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_

#include "absl/strings/string_view.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/warm_start/assignment_map.h"

namespace estimator::train {

// On a fresh start, the variables of `assignment_map` get these values in place of their
// initializers', which do not run; a restored checkpoint, warm_start_from and Scaffold::init_fn
// come after it. `ckpt_dir_or_file`: a prefix, a directory (its newest checkpoint), or a
// SavedModel's directory. A variable that is named again takes the later value. The values are read
// when variables are initialized; names, shapes and dtypes are checked at once. Errors (kept by the
// graph): NOT_FOUND if there is no such checkpoint; NOT_FOUND or INVALID_ARGUMENT with one table of
// all that does not fit. Source: TF 2.15 tf.compat.v1.train.init_from_checkpoint.
void InitFromCheckpoint(absl::string_view ckpt_dir_or_file, const AssignmentMap& assignment_map);

// tf.train.checkpoint_exists: whether a checkpoint that opens is at this prefix (or is the newest
// of this directory).
bool CheckpointExists(absl::string_view ckpt_dir_or_file);

// tf.train.load_checkpoint and its like, under their names there.
using ::estimator::ListVariables;
using ::estimator::LoadCheckpoint;
using ::estimator::LoadVariable;

}  // namespace estimator::train

#endif  // ESTIMATOR_TRAINING_WARM_START_INIT_FROM_CHECKPOINT_H_
