// NameTable: adds the table of a look-up to the error for an index out of range. Internal to
// runtime.
#ifndef ESTIMATOR_RUNTIME_NAME_TABLE_H_
#define ESTIMATOR_RUNTIME_NAME_TABLE_H_

#include "absl/status/status.h"
#include "estimator/runtime/ir.h"

namespace estimator::ir {

// The attribute of a node that checks indices: the name of their table.
inline constexpr char kTableAttr[] = "table";

// For a node that reads or writes a table by indices, appends to the message of `status`:
//   ; the table is 'embeddings', f32 [1000,64]
// The name is that of the variable, or of the node that computes the table. Returns the status
// unchanged if it is OK, or if the node has no table.
absl::Status NameTable(const absl::Status& status, const Module& module, const Node& node);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_NAME_TABLE_H_
