// Writes files in TensorFlow's V1 format (v1_checkpoint.h) for tests. The framework only reads it.
#ifndef ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_
#define ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/shape.h"

namespace estimator {

struct V1Slice {
  std::string name;
  Array value = {};                       // f32, i64 or string
  Shape whole = {};                       // the shape of the whole tensor, for a slice
  std::vector<SliceExtent> extents = {};  // one for each axis; empty if it is not a slice
};

absl::Status WriteV1File(absl::string_view path, const std::vector<V1Slice>& slices);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TESTING_V1_FILES_H_
