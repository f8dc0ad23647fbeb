// Input slots: the arrays of an element in the order in which a model takes them.
#ifndef ESTIMATOR_TRAINING_INPUT_INPUT_SLOTS_H_
#define ESTIMATOR_TRAINING_INPUT_INPUT_SLOTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/training/input/mode.h"

namespace estimator {

// One array of an element. A model has one placeholder for each slot.
struct InputSlot {
  bool is_label = false;
  std::string name;  // "" for a bare array
  TensorSpec spec;

  // "features['image']", "labels"
  std::string ToString() const;
  friend bool operator==(const InputSlot& a, const InputSlot& b) {
    return a.is_label == b.is_label && a.name == b.name && a.spec == b.spec;
  }
};

// The slots of an element: features, then labels, each in name order. In PREDICT without labels.
std::vector<InputSlot> SlotsOf(const Element& element, Mode mode);

// Whether SlotsOf(element, mode) == slots.
bool HasSlots(const Element& element, const std::vector<InputSlot>& slots, Mode mode);

// The element's arrays in slot order.
// Errors: INVALID_ARGUMENT if an array is missing or has another shape or dtype than its slot
// (shapes are static). It names the slot, its spec and the given array.
absl::StatusOr<std::vector<Array>> FeedsOf(const std::vector<InputSlot>& slots,
                                           const Element& element);

// Rows of an element: the batch axis' size in the first array that has this axis; 0 if none has.
//   batch_axis: an axis for each array, as in Strategy::batch_axis; empty: axis 0. A list of
//   another length is ignored here, since BatchAxis::Check refuses it.
int64_t NumRows(const Element& element, absl::Span<const int64_t> batch_axis = {});

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_INPUT_SLOTS_H_
