// A model whose classes are strings, for tests of what serves it.
#ifndef ESTIMATOR_EXPORT_TESTING_STRING_CLASSES_H_
#define ESTIMATOR_EXPORT_TESTING_STRING_CLASSES_H_

#include "estimator/export/signature/export_graph.h"

namespace estimator::testing {

// Parses the scores x: f32 [batch, 3]. "serving_default" classifies as "cat", "dog" and "cow";
// "best" predicts the `class` with the greatest score.
absl::StatusOr<ExportGraph> BuildStringClasses(int64_t batch_size);

}  // namespace estimator::testing

#endif  // ESTIMATOR_EXPORT_TESTING_STRING_CLASSES_H_
