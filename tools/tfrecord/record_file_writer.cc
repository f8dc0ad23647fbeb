#include "tools/tfrecord/record_file_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
absl::StatusOr<std::unique_ptr<RecordFileWriter>> RecordFileWriter::Open(
    const std::string& path, const TFRecordOptions& options) {
  std::string temporary = JoinPath(Dirname(path), absl::StrCat(".", Basename(path), ".tmp"));
  EST_ASSIGN_OR_RETURN(auto writer, TFRecordWriter::Open(temporary, options));
  return std::unique_ptr<RecordFileWriter>(
      new RecordFileWriter(std::move(temporary), std::move(writer)));
}

RecordFileWriter::~RecordFileWriter() {
  if (finished_) return;
  writer_.reset();
  RemoveFile(temporary_).IgnoreError();  // what went wrong is reported already
}

absl::Status RecordFileWriter::Write(absl::string_view record) {
  ++records_;
  return writer_->Write(record);
}

absl::Status RecordFileWriter::Finish(const std::string& path) {
  EST_RETURN_IF_ERROR(writer_->Close());
  EST_RETURN_IF_ERROR(SyncFile(temporary_));
  EST_RETURN_IF_ERROR(RenameFile(temporary_, path));
  finished_ = true;
  return SyncDirectory(Dirname(path));
}

}  // namespace estimator
