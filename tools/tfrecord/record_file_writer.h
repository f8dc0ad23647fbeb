// Writes a TFRecord file under a temporary name and renames it when it is whole. So a file with the
// final name is never a part of one, even after a kill or a power loss.
#ifndef TOOLS_TFRECORD_RECORD_FILE_WRITER_H_
#define TOOLS_TFRECORD_RECORD_FILE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/records/tfrecord.h"

namespace estimator {

// Not thread-safe.
class RecordFileWriter {
 public:
  // The temporary file is ".<name>.tmp" in the directory of `path`. One that an earlier run left is
  // replaced.
  static absl::StatusOr<std::unique_ptr<RecordFileWriter>> Open(const std::string& path,
                                                                const TFRecordOptions& options);
  // Removes the temporary file unless Finish succeeded.
  ~RecordFileWriter();
  RecordFileWriter(const RecordFileWriter&) = delete;
  RecordFileWriter& operator=(const RecordFileWriter&) = delete;

  absl::Status Write(absl::string_view record);
  // Writes everything to the disk and renames the file to `path`, which is in the directory of the
  // path of Open. Call it once.
  absl::Status Finish(const std::string& path);

  int64_t records() const { return records_; }

 private:
  RecordFileWriter(std::string temporary, std::unique_ptr<TFRecordWriter> writer)
      : temporary_(std::move(temporary)), writer_(std::move(writer)) {}

  const std::string temporary_;
  std::unique_ptr<TFRecordWriter> writer_;
  int64_t records_ = 0;
  bool finished_ = false;
};

}  // namespace estimator

#endif  // TOOLS_TFRECORD_RECORD_FILE_WRITER_H_
