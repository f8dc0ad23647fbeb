// Kinds of TensorFlow's ops that an import treats alike, by the name of the op.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OP_KINDS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OP_KINDS_H_

#include <initializer_list>

#include "absl/strings/string_view.h"

namespace estimator {

bool IsOneOf(absl::string_view op, std::initializer_list<absl::string_view> ops);

bool IsVariableOp(absl::string_view op);      // VariableV2, VarHandleOp
bool IsParseExampleOp(absl::string_view op);  // tf.io.parse_example
bool IsInputOp(absl::string_view op);         // IteratorGetNext, QueueDequeueV2, Placeholder
bool IsRandomOp(absl::string_view op);
bool IsSwitchOp(absl::string_view op);
bool IsMergeOp(absl::string_view op);
bool IsLoopOp(absl::string_view op);    // While, StatelessWhile
bool IsCaseOp(absl::string_view op);    // Case, StatelessCase
bool IsBranchOp(absl::string_view op);  // these, If and StatelessIf
// Ops that make, read or change a TensorList, and that are imported.
bool IsListOp(absl::string_view op);
// Ops through which a reference to a variable, or its handle, passes.
bool PassesReference(absl::string_view op);
// Ops that read a handle: ReadVariableOp, ResourceGather.
bool ReadsHandle(absl::string_view op);
// Ops that only report something, so that an import may leave them out if nothing reads them.
bool IsReportOp(absl::string_view op);
// Whether a node is named as tf.gradients names its nodes: in a scope `gradients`.
bool IsGradientName(absl::string_view name);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OP_KINDS_H_
