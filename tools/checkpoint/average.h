// `checkpoint average`: the mean of several checkpoints of one model.
#ifndef TOOLS_CHECKPOINT_AVERAGE_H_
#define TOOLS_CHECKPOINT_AVERAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Writes the mean to `output`, and returns a text that says what it did.
// Floating and complex variables become their mean, which is computed in more than float64
// precision and rounded once. They are not partitioned in the output. All others (global_step,
// other integers, strings) are copied from the last checkpoint. The output has no input position
// (PREFIX.input), because it belongs to no single run.
// Errors: INVALID_ARGUMENT with one table of all variables that are missing from a checkpoint, or
// differ in dtype or shape.
absl::StatusOr<std::string> Average(const std::vector<std::unique_ptr<BundleReader>>& readers,
                                    const std::string& output);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_AVERAGE_H_
