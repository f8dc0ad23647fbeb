// Writes files in TensorFlow's V1 format (v1_checkpoint.h), for tests: the framework only reads it.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_
#define ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {

struct V1Slice {
  std::string name;
  Array value = {};                       // float, int64 or string
  Shape whole = {};                       // of a slice
  std::vector<SliceExtent> extents = {};  // one an axis; empty: not a slice
};

absl::Status WriteV1File(absl::string_view path, const std::vector<V1Slice>& slices);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_
