// The ops of TensorFlow 1's loops and stacks.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_OPS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_OPS_H_

#include "absl/strings/string_view.h"
#include "estimator/graphdef/import/op_kinds.h"

namespace estimator {

inline bool IsEnterOp(absl::string_view op) { return IsOneOf(op, {"Enter", "RefEnter"}); }
inline bool IsExitOp(absl::string_view op) { return IsOneOf(op, {"Exit", "RefExit"}); }
inline bool IsNextOp(absl::string_view op) {
  return IsOneOf(op, {"NextIteration", "RefNextIteration"});
}
// Those of early versions have no V2.
inline bool IsPushOp(absl::string_view op) { return IsOneOf(op, {"StackPushV2", "StackPush"}); }
inline bool IsPopOp(absl::string_view op) { return IsOneOf(op, {"StackPopV2", "StackPop"}); }
inline bool IsStackOp(absl::string_view op) { return IsOneOf(op, {"StackV2", "Stack"}); }

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FRAMES_FRAME_OPS_H_
