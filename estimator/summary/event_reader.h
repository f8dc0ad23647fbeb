// Reads event files, for early stopping, exporters and tests.
#ifndef ESTIMATOR_SUMMARY_EVENT_READER_H_
#define ESTIMATOR_SUMMARY_EVENT_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/status_or_range.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// One value of an event file.
struct SummaryRecord {
  enum class Kind { kScalar, kHistogram, kImage, kTensor, kOther };
  int64_t step = 0;
  double wall_time = 0;  // seconds since 1970
  std::string tag;
  Kind kind = Kind::kOther;
  double scalar = 0;  // the value, for kScalar
  std::string bytes;  // the serialized Summary::Value
};

// All values of one file, in its order. Reading stops at a damaged record, with a warning in the
// log. Errors: those of the file system.
StatusOrRange<std::vector<SummaryRecord>> ReadEventFile(StringArg path);

// The values of all event files of a directory, as TensorBoard shows them. Files are read in the
// order of their names. A SessionLog with kStart discards all values of its step and of later steps
// that were read before it: a run went back to an earlier checkpoint, or was killed. Empty if there
// is no such directory or no event file. Errors: those of the file system.
// Source: TensorBoard 2.15 event_accumulator.EventAccumulator, with purge_orphaned_data.
StatusOrRange<std::vector<SummaryRecord>> ReadEventDirectory(StringArg directory);
// The same for files in this order.
StatusOrRange<std::vector<SummaryRecord>> ReadEventFiles(const std::vector<std::string>& paths);

// The scalars of ReadEventDirectory: step -> tag -> scalar. A later value of the same step and tag
// replaces the earlier one. Source: TF 2.15 tf_estimator early_stopping.read_eval_metrics, which
// also returns what TensorBoard discards.
absl::StatusOr<std::map<int64_t, std::map<std::string, double>>> ReadScalars(StringArg directory);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_EVENT_READER_H_
