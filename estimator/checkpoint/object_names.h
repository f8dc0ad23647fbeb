// The names of variables in object-based checkpoints of TensorFlow 2.
//
// tf.train.Checkpoint, Keras and the SavedModels of TensorFlow 2 store a value under its path
// through the objects that hold it ("layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE"). The entry
// _CHECKPOINTABLE_OBJECT_GRAPH, a TrackableObjectGraph, says which variable ("dense/kernel") it is.
#ifndef ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_
#define ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"

namespace estimator {

// The name of the entry with the object graph. On disk: do not change.
inline constexpr char kObjectGraphKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// Gives the entries of an index the names of their variables, and those of slots of Keras'
// optimizers our names (slot_names.h). The entry of the object graph moves to
// BundleIndex::object_graph: it has the old names. An entry keeps its path if it has no variable's
// name, if several have the same name, or if the index has an entry of that name. Returns the new
// names by path.
//   graph: the value of kObjectGraphKey.  REQUIRES: the index has that entry.
// Errors: DATA_LOSS if the graph cannot be parsed.
// Source: TF 2.15 saver.object_graph_key_mapping, which tf.train.Saver and warm_start use.
absl::StatusOr<std::map<std::string, std::string>> UseObjectNames(const Array& graph,
                                                                  BundleIndex* index);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_
