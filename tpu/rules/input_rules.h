// Rules about the batches of input_fn: their shapes, dtypes and names.
#ifndef TPU_RULES_INPUT_RULES_H_
#define TPU_RULES_INPUT_RULES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/strategies.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {

// What a Dataset says of itself before it is read.
struct DatasetSignature {
  Mode mode = Mode::kTrain;
  std::optional<ElementSpec> spec = std::nullopt;  // nullopt: a function makes the elements
  int64_t cardinality = -1;                        // Dataset::Cardinality
  std::vector<int64_t> batch_axis = {};            // as in Strategy::batch_axis
};
// dynamic-shape, partial-batch, open-batch.
void CheckSignature(const DatasetSignature& signature, Report& report);

// Opens the input of `mode` as a run would and reads its first steps. Returns the first step's
// element of the first core; nullopt after an error, which is in the report.
//   strategy: the one that splits batches.
// dynamic-shape, partial-batch, open-batch, reserved-feature, string, input-error.
std::optional<Element> CheckInput(const Strategy& strategy, Mode mode, const InputFn& input,
                                  Report& report);

// The element with arrays of `rows` rows, all zeros.
Element WithRows(const Element& element, int64_t rows, absl::Span<const int64_t> batch_axis);

}  // namespace estimator::tpu

#endif  // TPU_RULES_INPUT_RULES_H_
