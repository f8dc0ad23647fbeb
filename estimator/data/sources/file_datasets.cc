#include "estimator/data/sources/file_datasets.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file_system.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/records/byte_stream.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

class TFRecords final : public RecordSource {
 public:
  explicit TFRecords(std::unique_ptr<TFRecordReader> reader) : reader_(std::move(reader)) {}
  absl::StatusOr<std::optional<std::string>> Next() override { return reader_->Next(); }
  absl::StatusOr<bool> Skip() override { return reader_->Skip(); }
  RecordPosition position() const override {
    return {.offset = reader_->position().offset, .index = reader_->position().index};
  }
  absl::Status Seek(RecordPosition position) override {
    return reader_->Seek({.offset = position.offset, .index = position.index});
  }

 private:
  std::unique_ptr<TFRecordReader> reader_;
};

class Lines final : public RecordSource {
 public:
  explicit Lines(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
  absl::StatusOr<std::optional<std::string>> Next() override {
    std::string line;
    while (true) {
      const size_t end = buffer_.find('\n', begin_);
      if (end != std::string::npos) {
        line.append(buffer_, begin_, end - begin_);
        position_.offset += static_cast<int64_t>(line.size() + 1);
        begin_ = end + 1;
        break;
      }
      line.append(buffer_, begin_, std::string::npos);
      EST_RETURN_IF_ERROR(Fill());
      if (!buffer_.empty()) continue;
      if (line.empty()) return std::nullopt;
      position_.offset += static_cast<int64_t>(line.size());  // the last line has no "\n"
      break;
    }
    ++position_.index;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  absl::StatusOr<bool> Skip() override {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> line, Next());
    return line.has_value();
  }
  RecordPosition position() const override { return position_; }
  absl::Status Seek(RecordPosition position) override {
    position_ = position;
    buffer_.clear();
    begin_ = 0;
    return stream_->Seek(position.offset);
  }

 private:
  absl::Status Fill() {
    constexpr size_t kBytes = 64 << 10;
    begin_ = 0;
    buffer_.resize(kBytes);
    EST_ASSIGN_OR_RETURN(const size_t got, stream_->Read(kBytes, buffer_.data()));
    buffer_.resize(got);
    return absl::OkStatus();
  }
  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;
  size_t begin_ = 0;  // of the unused part of buffer_
  RecordPosition position_;
};

}  // namespace

Dataset TFRecordDataset(std::vector<std::string> files, FileDatasetOptions options) {
  const auto open =
      [options](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordSource>> {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<TFRecordReader> reader,
                         TFRecordReader::Open(path, {.compression = options.compression}));
    return std::make_unique<TFRecords>(std::move(reader));
  };
  return Dataset(FileRecordsNode("TFRecord", "record", std::move(files), open));
}

Dataset TextLineDataset(std::vector<std::string> files, FileDatasetOptions options) {
  const auto open =
      [options](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordSource>> {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                         ByteStream::Open(path, options.compression));
    return std::make_unique<Lines>(std::move(stream));
  };
  return Dataset(FileRecordsNode("TextLine", "line", std::move(files), open));
}

StatusOrRange<std::vector<std::string>> MatchFiles(StringArg pattern) {
  EST_ASSIGN_OR_RETURN(std::vector<std::string> files, Glob(pattern));
  if (!files.empty()) return files;
  return absl::NotFoundError(absl::StrCat("ListFiles: no file matches \"", pattern, "\""));
}

Dataset ListFiles(StringArg pattern, ListFilesOptions options) {
  absl::StatusOr<std::vector<std::string>> files = MatchFiles(pattern);
  if (!files.ok()) return Dataset(ErrorNode(files.status()));
  const auto count = static_cast<int64_t>(files->size());
  Dataset dataset = Dataset::FromTensorSlices(
      {.features = Array::FromSpan<std::string>({count}, *files), .labels = {}});
  return options.shuffle ? dataset.Shuffle(count, {.seed = options.seed}) : dataset;
}

}  // namespace estimator
