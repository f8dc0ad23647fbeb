// Names a position in an operand, for messages.
#ifndef ESTIMATOR_KERNELS_POSITION_H_
#define ESTIMATOR_KERNELS_POSITION_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// "row 9" if `before` is "row ". On replicas, where the operand is one replica's part of n
// positions, "row 9 (row 1 of replica 4)": the first number counts over the parts of all replicas,
// so it is the row of the batch.
inline std::string PositionText(absl::string_view before, int64_t i, int64_t n,
                                const StepContext& step, absl::string_view after = "") {
  const std::string own = absl::StrCat(before, i, after);
  if (step.num_replicas == 1) return own;
  return absl::StrCat(before, step.replica * n + i, after, " (", own, " of replica ", step.replica,
                      ")");
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_POSITION_H_
