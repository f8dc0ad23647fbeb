#include "estimator/training/input/input_slots.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

std::string InputSlot::ToString() const {
  const char* what = is_label ? "labels" : "features";
  return name.empty() ? what : absl::StrCat(what, "['", name, "']");
}

std::vector<InputSlot> SlotsOf(const Element& element, Mode mode) {
  std::vector<InputSlot> slots;
  for (const auto& [name, array] : element.features) {
    slots.push_back({.is_label = false, .name = name, .spec = {array.dtype(), array.shape()}});
  }
  // A model has no placeholders for labels in PREDICT, even if input_fn returns some.
  if (mode == Mode::kPredict) return slots;
  for (const auto& [name, array] : element.labels) {
    slots.push_back({.is_label = true, .name = name, .spec = {array.dtype(), array.shape()}});
  }
  return slots;
}

bool HasSlots(const Element& element, const std::vector<InputSlot>& slots, Mode mode) {
  const size_t num_labels = mode == Mode::kPredict ? 0 : element.labels.size();
  if (slots.size() != element.features.size() + num_labels) return false;
  return std::all_of(slots.begin(), slots.end(), [&element](const InputSlot& slot) {
    const ArrayMap& arrays = slot.is_label ? element.labels : element.features;
    const auto found = arrays.find(slot.name);
    return found != arrays.end() && found->second.dtype() == slot.spec.dtype &&
           found->second.shape() == slot.spec.shape;
  });
}

absl::StatusOr<std::vector<Array>> FeedsOf(const std::vector<InputSlot>& slots,
                                           const Element& element) {
  std::vector<Array> feeds;
  feeds.reserve(slots.size());
  for (const InputSlot& slot : slots) {
    const ArrayMap& arrays = slot.is_label ? element.labels : element.features;
    const auto found = arrays.find(slot.name);
    if (found == arrays.end()) {
      return InvalidArgument("input_fn gave no ", slot.ToString(),
                             " in this element; earlier ones had it as ", slot.spec.ToString());
    }
    const TensorSpec given{found->second.dtype(), found->second.shape()};
    if (!(given == slot.spec)) {
      return InvalidArgument(
          slot.ToString(), " is ", given.ToString(), ", the model was built for ",
          slot.spec.ToString(),
          ": the parts of a step (of its replicas, and of the batches of accumulate_steps) must "
          "have "
          "one shape; give Batch a .drop_remainder, or pad them in input_fn to one shape");
    }
    feeds.push_back(found->second);
  }
  return feeds;
}

int64_t NumRows(const Element& element, absl::Span<const int64_t> batch_axis) {
  const bool fits = batch_axis.size() == element.features.size() + element.labels.size();
  size_t i = 0;
  for (const ArrayMap* arrays : {&element.features, &element.labels}) {
    for (const auto& [name, array] : *arrays) {
      // An array of lower rank, such as a scalar, has no batch. The next one may have it.
      const int64_t axis = fits ? batch_axis[i++] : 0;
      if (array.shape().rank() > axis) return array.shape().dim(static_cast<int>(axis));
    }
  }
  return 0;
}

}  // namespace estimator
