// The report on a program that was compiled for a TPU slice, for people to read.
#ifndef TPU_COMPILE_CHECK_COMPILE_REPORT_H_
#define TPU_COMPILE_CHECK_COMPILE_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tpu/compile_check/chips.h"
#include "tpu/compile_check/compile_child.h"

namespace estimator::tpu {

struct CompileReport {
  bool passed = false;
  std::string text;  // whole lines
};

// What the outcome says about `request`. XLA's cost analysis counts the body of a loop once, so the
// costs of a program that loops over steps are those of one step.
CompileReport ReportOn(const CompileRequest& request, const CompileOutcome& outcome);

// Gives the program for a batch of so many rows on each device; nullopt if the model cannot be built
// for them.
using ProgramForRows = std::function<absl::StatusOr<std::optional<std::string>>(int64_t rows)>;

// Finds about the most rows of a device, a multiple of 8, for which the program compiles, starting
// from the outcome for `rows`: an eighth more does not fit. 0: not even 8 rows fit. Compiles the
// program several times. Errors: of the compiler, other than too little memory; NOT_FOUND if the
// model cannot be built for a number of rows.
absl::StatusOr<int64_t> LargestRows(const CompileRequest& request, const CompileOutcome& outcome,
                                    int64_t rows, const ProgramForRows& program);

// "1.5 GiB"
std::string HumanBytes(double bytes);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_COMPILE_REPORT_H_
