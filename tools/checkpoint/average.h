// `checkpoint average`: the mean of several checkpoints of one model.
#ifndef TOOLS_CHECKPOINT_AVERAGE_H_
#define TOOLS_CHECKPOINT_AVERAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Floating and complex variables become their mean, which is taken in more than float64 and
// rounded once, and are stored whole; everything else (global_step, other integers, strings) is
// copied from the last checkpoint. The mean has no position of the input (PREFIX.input): it is of
// no one run. Returns what it did. Errors: INVALID_ARGUMENT with one table of all variables that
// are not in every checkpoint with one dtype and shape.
absl::StatusOr<std::string> Average(const std::vector<std::unique_ptr<BundleReader>>& readers,
                                    const std::string& output);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_AVERAGE_H_
