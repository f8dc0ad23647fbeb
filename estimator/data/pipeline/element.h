// Element: the unit of a Dataset. It is one example or one batch.
#ifndef ESTIMATOR_DATA_PIPELINE_ELEMENT_H_
#define ESTIMATOR_DATA_PIPELINE_ELEMENT_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Arrays by name, sorted by name. A single array without a name has the name "".
class ArrayMap : public std::map<std::string, Array> {
 public:
  using std::map<std::string, Array>::map;
  ArrayMap() = default;
  ArrayMap(Array bare) {  // NOLINT: an array converts to a map with one entry
    emplace("", std::move(bare));
  }

  // The array of a name. Errors: NOT_FOUND with all names and the nearest one.
  absl::StatusOr<Array> Get(StringArg name) const;
  // The same, but throws std::out_of_range with the message of Get. A Dataset makes an error of
  // what its functions throw.
  const Array& at(const std::string& name) const;
  Array& at(const std::string& name);
  // The only array. Errors: FAILED_PRECONDITION if there are none or several.
  absl::StatusOr<Array> Only() const;
};

// The (features, labels) of an input_fn. `labels` is empty if there are none.
struct Element {
  ArrayMap features;
  ArrayMap labels;

  // "features f32 [28,28,1], labels i32 []", "image u8 [784], label i64 []".
  std::string ToString() const;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ELEMENT_H_
