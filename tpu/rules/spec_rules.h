// Rules about what model_fn returned: its updates, its predictions and its tensors for the host.
#ifndef TPU_RULES_SPEC_RULES_H_
#define TPU_RULES_SPEC_RULES_H_

#include <functional>
#include <vector>

#include "estimator/array/array.h"
#include "tpu/rules/checked_model.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {

// no-cross-replica-sum, global-step-unused, global-step-twice, outfeed-rank, predictions-too-large,
// prediction-rows.
void CheckSpecRules(const CheckedModel& model, Report& report);
// Those of PREDICT alone.
void CheckPredictions(const CheckedModel& model, Report& report);

// Calls scaffold_fn and checks that it builds no ops on the model's tensors (scaffold-tensor).
Scaffold CallScaffoldFn(const CheckedModel& model, const std::function<Scaffold()>& scaffold_fn,
                        Report& report);

// The constants that the learning rates of the model's optimizer ops are computed from. Empty if
// the optimizer has no such ops.
std::vector<double> LearningRateConstants(const Graph& graph);

}  // namespace estimator::tpu

#endif  // TPU_RULES_SPEC_RULES_H_
