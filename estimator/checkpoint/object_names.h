// Finds variables by name in object-based checkpoints of TensorFlow 2.
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

// The name of the entry with the object graph. On disk: do not change.
inline constexpr char kObjectGraphKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// A value type. Thread-safe after construction.
class ObjectNames {
 public:
  // Reads the object graph of a checkpoint. A name-based checkpoint has none; the result is then
  // empty. Errors: DATA_LOSS if the entry cannot be read.
  static absl::StatusOr<ObjectNames> Of(const BundleReader& reader);

  // The name in the checkpoint of the value of the variable `name`. This is `name` itself if the
  // checkpoint has that name, or if its object graph has no such variable or several.
  // Source: TF 2.15 saver.object_graph_key_mapping, which tf.train.Saver and warm_start use.
  const std::string& Stored(const std::string& name) const;

 private:
  std::map<std::string, std::string> keys_;  // by the variable's name
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_OBJECT_NAMES_H_
