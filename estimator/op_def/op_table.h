// The rows of the framework's ops, in no order. Read them with op_def.h.
#ifndef ESTIMATOR_OP_DEF_OP_TABLE_H_
#define ESTIMATOR_OP_DEF_OP_TABLE_H_

#include "absl/types/span.h"
#include "estimator/op_def/op_def.h"

namespace estimator {

absl::Span<const OpDef> OpTable();

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_OP_TABLE_H_
