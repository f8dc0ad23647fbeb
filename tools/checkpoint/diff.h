// `checkpoint diff`: holds two checkpoints against each other, piece by piece.
#ifndef TOOLS_CHECKPOINT_DIFF_H_
#define TOOLS_CHECKPOINT_DIFF_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "tools/checkpoint/arguments.h"

namespace estimator {

struct DiffOptions {
  // a and b are close if |a - b| <= atol + rtol * |b|; NaN is close to NaN.
  double rtol = 0;
  double atol = 0;
  bool ignore_dtype = false;  // compare numbers of different dtypes
  NameFilter filter = {};
};

struct DiffReport {
  bool equal = true;
  std::vector<std::string> damage;  // a line for each damaged part of a variable, as `verify`
  std::string text;                 // a table of what differs, and a line that sums up
};

// Both crcs are verified on the way. An int32 global_step equals an int64 one of the same value.
// Strings are compared as such; variants, as they are stored. A variable that is damaged on a side
// is neither equal nor compared; the others are.
// Errors: INVALID_ARGUMENT for options; CANCELLED. Damage is no error here.
absl::StatusOr<DiffReport> Diff(const BundleReader& a, const BundleReader& b,
                                const DiffOptions& options);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_DIFF_H_
