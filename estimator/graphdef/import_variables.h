// The variables of an imported graph, and their names in a checkpoint.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_VARIABLES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_VARIABLES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/graph/tensor.h"

namespace estimator {

class FlatGraph;

// The place of a value in a checkpoint: a whole tensor, or a part of one.
struct CheckpointSlice {
  std::string name;  // "dense/kernel", "layer/w/.ATTRIBUTES/VARIABLE_VALUE"
  // For a part of a partitioned variable: the shape of the whole, and the part. Empty: the whole.
  std::vector<int64_t> full_shape = {};
  std::vector<int64_t> begin = {};
  std::vector<int64_t> size = {};
};

struct ImportedVariable {
  Tensor variable;  // output of a VariableV2 node, whose name is the key in a VariableStore
  CheckpointSlice source;
};

// The op that restores the variables of a MetaGraph, from its SaverDef.
struct RestoreOps {
  // "save/restore_all", or TensorFlow 2's "StatefulPartitionedCall_1".
  std::string restore_op_name = "";
};

// Follows the restore op of a GraphDef to the variables that it assigns from a checkpoint. Returns
// the place in the checkpoint by variable (a node of `flat`), without variables that the op does
// not restore.
// Errors: INVALID_ARGUMENT if there is no such op, or if names or slices are malformed.
absl::StatusOr<std::map<int, CheckpointSlice>> FindCheckpointSlices(const RestoreOps& restore,
                                                                    FlatGraph& flat);

// Parses a slice: "6 4 0,3:-" is rows 0 to 2 and all columns of a whole with shape [6,4]; "" is the
// whole. Errors: INVALID_ARGUMENT. Source: TF 2.15 checkpoint_ops.ParseShapeAndSlice.
absl::Status ParseShapeAndSlice(absl::string_view text, CheckpointSlice& slice);

// Reads the value of `variable` from a checkpoint.
// Errors: NOT_FOUND naming the nearest name; INVALID_ARGUMENT if dtype or shape differ.
absl::StatusOr<Array> ReadVariable(const ImportedVariable& variable, const BundleReader& reader);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_VARIABLES_H_
