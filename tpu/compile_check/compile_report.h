// The report on a program that was compiled for a TPU slice, for people to read.
#ifndef TPU_COMPILE_CHECK_COMPILE_REPORT_H_
#define TPU_COMPILE_CHECK_COMPILE_REPORT_H_

#include <string>

#include "tpu/compile_check/compile_child.h"

namespace estimator::tpu {

struct CompileReport {
  bool passed = false;
  std::string text;  // whole lines
};

// What the outcome says about `request`. XLA's cost analysis counts the body of a loop once, so the
// costs of a program that loops over steps are those of one step.
CompileReport ReportOn(const CompileRequest& request, const CompileOutcome& outcome);

// "1.5 GiB"
std::string HumanBytes(double bytes);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_COMPILE_REPORT_H_
