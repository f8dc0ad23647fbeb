// `tfrecord verify`.
#ifndef TOOLS_TFRECORD_VERIFY_H_
#define TOOLS_TFRECORD_VERIFY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {

struct VerifyRecordsOptions {
  bool examples = true;        // checks that each record is a serialized Example
  std::string image_key = "";  // if set: decodes the image of this key
};
struct RecordsReport {
  std::vector<std::string> damage;  // file, record number, offset and key; empty: none
  std::string summary;
};
// Reads every byte and checks every crc32c. After damaged data it continues with the next record of
// the file; after a damaged length it continues with the next file. A file whose name states
// another count of records is damaged too.
// Errors: NOT_FOUND; CANCELLED. Damage is not an error.
absl::StatusOr<RecordsReport> VerifyRecordFiles(const std::vector<std::string>& files,
                                                InputCompression compression,
                                                const VerifyRecordsOptions& options);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_VERIFY_H_
