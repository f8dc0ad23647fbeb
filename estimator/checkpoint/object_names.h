// Variables by name in checkpoints of TensorFlow 2's objects.
//
// tf.train.Checkpoint, Keras and the SavedModels of TensorFlow 2 store a value under its path
// through the objects that hold it ("layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE"). The entry
// _CHECKPOINTABLE_OBJECT_GRAPH, a TrackableObjectGraph, says which variable ("dense/kernel") it is.
#ifndef ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_
#define ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// The name of that entry. On disk: do not change.
inline constexpr char kObjectGraphKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// A value; thread-safe once it is made.
class ObjectNames {
 public:
  // Of a checkpoint of names: knows none. Errors: DATA_LOSS if the entry cannot be read.
  static absl::StatusOr<ObjectNames> Of(const BundleReader& reader);

  // The name in the checkpoint of the value that the variable `name` has: `name` itself where the
  // checkpoint has it, or knows no such variable, or several. Source: TF 2.15 saver.
  // object_graph_key_mapping, through which tf.train.Saver and warm_start find them too.
  const std::string& Stored(const std::string& name) const;

 private:
  std::map<std::string, std::string> keys_;  // by the variable's name
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_
