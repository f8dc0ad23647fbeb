// BatchAxis: where the batch stands in each array of an element, and how elements are split and
// joined along it: TPUEstimator's batch_axis.
#ifndef ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_
#define ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// An axis for each array, features in the order of their names, then labels in theirs; an empty
// list is axis 0 of every array. Source: TF 2.15 TPUEstimator's batch_axis.
class BatchAxis {
 public:
  explicit BatchAxis(std::vector<int64_t> axes = {}) : axes_(std::move(axes)) {}

  // Errors: INVALID_ARGUMENT naming the arrays if there is not one axis for each.
  absl::Status Check(const Element& element) const;
  int64_t NumRows(const Element& element) const;
  // Rows [begin, end) of every array. On axis 0 they share its bytes.
  // Errors: INVALID_ARGUMENT naming the array that has not `num_rows` on its axis.
  absl::StatusOr<Element> Slice(const Element& element, int64_t begin, int64_t end,
                                int64_t num_rows) const;
  // The rows of all elements, one element after the other. REQUIRES: at least one element.
  // Errors: INVALID_ARGUMENT naming an array that differs in more than its rows, or is missing.
  absl::StatusOr<Element> Join(const std::vector<Element>& elements) const;

 private:
  const std::vector<int64_t> axes_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_BATCH_AXIS_H_
