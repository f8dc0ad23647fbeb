// `tfrecord stats`: how often each label occurs.
#ifndef TOOLS_TFRECORD_LABEL_STATISTICS_H_
#define TOOLS_TFRECORD_LABEL_STATISTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {

struct StatsOptions {
  std::string label_key = "image/class/label";  // int64, float or bytes
  std::string text_key = "image/class/text";    // the names of labels; "" or missing: none
  int64_t max_rows = 1000;
};
// Returns a row for each label: number of values, share, and name; and how many records have no
// label or several. Labels are sorted by number or by text.
// Errors: NOT_FOUND with the keys of a record, if no record has the label key.
absl::StatusOr<std::string> LabelStatistics(const std::vector<std::string>& files,
                                            InputCompression compression,
                                            const StatsOptions& options);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_LABEL_STATISTICS_H_
