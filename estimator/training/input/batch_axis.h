// BatchAxis: the axis of the batch in each array of an element (TPUEstimator's batch_axis). Splits
// and joins elements along it.
#ifndef ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_
#define ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// One axis for each array: features in name order, then labels in name order. An empty list means
// axis 0 of every array. Source: TF 2.15 TPUEstimator's batch_axis.
class BatchAxis {
 public:
  explicit BatchAxis(std::vector<int64_t> axes = {}) : axes_(std::move(axes)) {}

  // Errors: INVALID_ARGUMENT naming the arrays if there is not one axis for each of them.
  absl::Status Check(const Element& element) const;
  // As estimator::NumRows (input_slots.h).
  int64_t NumRows(const Element& element) const;
  // Rows [begin, end) of every array. On axis 0 they share the array's bytes; else they are copied.
  // Errors: INVALID_ARGUMENT naming an array whose batch axis does not have `num_rows` rows.
  absl::StatusOr<Element> Slice(const Element& element, int64_t begin, int64_t end,
                                int64_t num_rows) const;
  // The rows of all elements, one element after the other. REQUIRES: at least one element.
  // Errors: INVALID_ARGUMENT naming an array that is missing in one of the elements, or differs
  // there in dtype or in another axis.
  absl::StatusOr<Element> Join(const std::vector<Element>& elements) const;

 private:
  const std::vector<int64_t> axes_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_
