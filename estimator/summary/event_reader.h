// Reads the scalars of event files: for early stopping, exporters and tests.
#ifndef ESTIMATOR_SUMMARY_EVENT_READER_H_
#define ESTIMATOR_SUMMARY_EVENT_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

// One value of an event file.
struct SummaryRecord {
  enum class Kind { kScalar, kHistogram, kImage, kTensor, kOther };
  int64_t step = 0;
  double wall_time = 0;  // seconds since 1970
  std::string tag;
  Kind kind = Kind::kOther;
  double scalar = 0;  // of kScalar
  std::string bytes;  // the serialized Summary::Value
};

// All values of one file, in its order. The rest of the file after a damaged record is left out,
// with a warning in the log. Errors: of the file system.
absl::StatusOr<std::vector<SummaryRecord>> ReadEventFile(absl::string_view path);

// step -> tag -> scalar, over the event files of a directory in the order of their names; a later
// value of the same step and tag takes the place of the earlier. Empty if the directory or its
// files are not there. Source: TF 2.15 tf_estimator early_stopping.read_eval_metrics.
absl::StatusOr<std::map<int64_t, std::map<std::string, double>>> ReadScalars(
    absl::string_view directory);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_EVENT_READER_H_
