// `tfrecord list`, `count` and `show`. They return text for users.
#ifndef TOOLS_TFRECORD_INSPECT_H_
#define TOOLS_TFRECORD_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {

// Returns a row for each file (records, bytes, compression, smallest, mean and largest record), the
// totals, and a table of the keys in the first record of the first file.
// Errors: those of reading. Lengths are checked, data is not; Verify checks it.
absl::StatusOr<std::string> ListRecordFiles(const std::vector<std::string>& files,
                                            InputCompression compression);

// Returns the number of records of each file and their sum. It counts by the lengths.
//   wrong_names: receives the number of files whose name states another count, which the rows show.
absl::StatusOr<std::string> CountRecordFiles(const std::vector<std::string>& files,
                                             InputCompression compression, int* wrong_names);

struct ShowOptions {
  std::vector<int64_t> records = {0};  // indices in the file
  int64_t max_values = 8;              // the number of values of a feature that are shown
};
// Returns the features of some records: key, type, number of values, and the first values. Images
// and other long bytes are shown by what they are and their size.
// Errors: OUT_OF_RANGE if the file has fewer records.
absl::StatusOr<std::string> ShowRecords(const std::string& file, InputCompression compression,
                                        const ShowOptions& options);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_INSPECT_H_
