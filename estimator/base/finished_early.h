// Marks a status that ends a program before its usual work, because everything that was asked for
// is done: a program that only had to print a report. Main (main.h) exits with 0 for it.
#ifndef ESTIMATOR_BASE_FINISHED_EARLY_H_
#define ESTIMATOR_BASE_FINISHED_EARLY_H_

#include <absl/status/status.h>

#include "estimator/base/string_arg.h"

namespace estimator {

// A CANCELLED status with the mark. It is not OK, so a program returns it and skips what follows.
absl::Status FinishedEarly(StringArg message);

// Whether the status has the mark. Annotate keeps the mark.
bool IsFinishedEarly(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_FINISHED_EARLY_H_
