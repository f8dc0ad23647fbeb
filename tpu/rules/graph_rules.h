// Rules about the ops of a model's graph: their dtypes, what XLA can lower, and what it drops.
#ifndef TPU_RULES_GRAPH_RULES_H_
#define TPU_RULES_GRAPH_RULES_H_

#include "tpu/rules/checked_model.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {

// float64, string, host-only-op, loop-without-bound, sum-in-body, int64, float16, check-op,
// unchecked-index, large-constant, summary-in-model, local-batch-norm.
void CheckGraphRules(const CheckedModel& model, Report& report);

}  // namespace estimator::tpu

#endif  // TPU_RULES_GRAPH_RULES_H_
