// The variables of an imported graph, and the names under which a checkpoint holds them.
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
#include "estimator/graphdef/import_flat_graph.h"

namespace estimator {

// Where a value stands in a checkpoint: a whole tensor, or a part of one.
struct CheckpointSlice {
  std::string name;  // "dense/kernel", "layer/w/.ATTRIBUTES/VARIABLE_VALUE"
  // Of a partitioned variable: the whole's shape, and which part this one is. Empty: the whole.
  std::vector<int64_t> full_shape = {};
  std::vector<int64_t> begin = {};
  std::vector<int64_t> size = {};
};

struct ImportedVariable {
  Tensor variable;  // of a VariableV2 node; its node's name is what a VariableStore knows it by
  CheckpointSlice source;
};

// The op that restores a MetaGraph's variables, from its SaverDef.
struct RestoreOps {
  std::string restore_op_name =
      "";  // "save/restore_all", or TensorFlow 2's "StatefulPartitionedCall_1"
};

// Follows the restore op of a GraphDef to what it assigns from a checkpoint: variable (a node of
// `flat`) -> its place in the checkpoint. Variables that it does not reach are absent.
// Errors: INVALID_ARGUMENT if there is no such op, or if names or slices are not well-formed.
absl::StatusOr<std::map<int, CheckpointSlice>> FindCheckpointSlices(const RestoreOps& restore,
                                                                    FlatGraph& flat);

// "6 4 0,3:-" (the whole is [6,4], this part rows 0 to 2 of all columns) into `slice`; "" is the
// whole. Errors: INVALID_ARGUMENT. Source: TF 2.15 checkpoint_ops.ParseShapeAndSlice.
absl::Status ParseShapeAndSlice(absl::string_view text, CheckpointSlice& slice);

// The value of `variable`, from a checkpoint.
// Errors: NOT_FOUND naming the nearest; INVALID_ARGUMENT if dtype or shape differ.
absl::StatusOr<Array> ReadVariable(const ImportedVariable& variable, const BundleReader& reader);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_VARIABLES_H_
