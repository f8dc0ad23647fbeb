// `checkpoint diff`: compares two checkpoints, piece by piece.
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
  std::vector<std::string> damage;  // a line for each damaged part of a variable, as in `verify`
  std::string text;                 // a table of the differences, and a line of totals
};

// Compares the variables of a and b, and verifies their crc32c. An int32 global_step equals an
// int64 one of the same value. Strings are compared by value, and variants by their stored bytes. A
// variable that is damaged in a or b counts as damaged and is not compared.
// Errors: INVALID_ARGUMENT for bad options; CANCELLED. Damage is not an error.
absl::StatusOr<DiffReport> Diff(const BundleReader& a, const BundleReader& b,
                                const DiffOptions& options);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_DIFF_H_
