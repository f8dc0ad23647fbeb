// Element: what flows through a Dataset: one example, or one batch.
#ifndef ESTIMATOR_DATA_PIPELINE_ELEMENT_H_
#define ESTIMATOR_DATA_PIPELINE_ELEMENT_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

// Arrays by name, in name order. A single bare array has the name "".
class ArrayMap : public std::map<std::string, Array> {
 public:
  using std::map<std::string, Array>::map;
  ArrayMap() = default;
  ArrayMap(Array bare) {  // NOLINT: a bare array is a map of one
    emplace("", std::move(bare));
  }

  // Errors: NOT_FOUND naming the names that are there and the nearest.
  absl::StatusOr<Array> Get(absl::string_view name) const;
  // The only array. Errors: FAILED_PRECONDITION if there are none or several.
  absl::StatusOr<Array> Only() const;
};

// As input_fn's (features, labels). Without labels, `labels` is empty.
struct Element {
  ArrayMap features;
  ArrayMap labels;

  // "features f32 [28,28,1], labels i32 []", "image u8 [784], label i64 []".
  std::string ToString() const;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ELEMENT_H_
