// The random values of --input=fixed:LOW..HIGH,VALUE.
#ifndef TOOLS_TRAIN_GRAPH_VALUE_RANGE_H_
#define TOOLS_TRAIN_GRAPH_VALUE_RANGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/base/random.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

// Integers are drawn with `high`, floats without.
struct ValueRange {
  double low = 0;
  double high = 1;
  bool constant = false;  // one number: low
};

// Parses LOW..HIGH or one number.
// Errors: INVALID_ARGUMENT for another text, and if LOW is above HIGH.
absl::StatusOr<ValueRange> ParseValueRange(absl::string_view text);

// Numbers of the range for an input, drawn from `random`.
// Errors: INVALID_ARGUMENT if its dtype cannot hold them, or is no number.
absl::StatusOr<Array> RandomArray(const TrainGraphInput& wanted, const Shape& shape,
                                  const ValueRange& range, Philox& random);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_VALUE_RANGE_H_
