// Pads arrays of different sizes at the end of each axis and stacks them.
#ifndef ESTIMATOR_DATA_TRANSFORMS_PAD_ROWS_H_
#define ESTIMATOR_DATA_TRANSFORMS_PAD_ROWS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/data/pipeline/dataset_options.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/data/pipeline/element_spec.h"

namespace estimator {

// The rows as a batch: padded as PaddedBatchOptions says, and stacked. REQUIRES: at least one row.
//   where(i): the origin of row i, for messages: "element 7".
// Errors: INVALID_ARGUMENT if names, dtypes or ranks differ, if a row is larger than its padded
// shape, or if an option names an array that the rows do not have.
absl::StatusOr<Element> PadRows(absl::Span<const Element> rows, const PaddedBatchOptions& options,
                                const std::function<std::string(size_t)>& where);

// What PadRows checks for each batch, as far as the spec of the rows tells. Returns the spec of the
// padded rows, without the batch axis.
absl::StatusOr<ElementSpec> PaddedSpec(const ElementSpec& rows, const PaddedBatchOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_PAD_ROWS_H_
