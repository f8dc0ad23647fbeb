#include "estimator/data/sources/file_datasets.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file_system.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/typed_fn.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/data/sources/indexed_records.h"
#include "estimator/data/sources/line_source.h"
#include "estimator/records/counts_in_names.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

class TFRecords final : public RecordSource {
 public:
  explicit TFRecords(std::unique_ptr<TFRecordReader> reader) : reader_(std::move(reader)) {}
  absl::StatusOr<std::optional<std::string>> Next() override { return reader_->Next(); }
  absl::StatusOr<bool> Skip() override { return reader_->Skip(); }
  RecordPosition position() const override { return reader_->position(); }
  absl::Status Seek(RecordPosition position) override { return reader_->Seek(position); }

 private:
  std::unique_ptr<TFRecordReader> reader_;
};

NodePtr RecordsNode(std::vector<std::string> files, const TFRecordDatasetOptions& options) {
  const TFRecordOptions reading = {.compression = options.compression,
                                   .buffer_size_bytes = options.buffer_size_bytes};
  const auto open =
      [reading](const std::string& path) -> absl::StatusOr<std::unique_ptr<RecordSource>> {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<TFRecordReader> reader,
                         TFRecordReader::Open(path, reading));
    return std::make_unique<TFRecords>(std::move(reader));
  };
  const int64_t num_records = SumOfCountsInNames(files).value_or(-1);
  return FileRecordsNode({.label = "TFRecord",
                          .kind = "record",
                          .files = std::move(files),
                          .open = open,
                          .num_records = num_records,
                          .buffer_size_bytes = options.buffer_size_bytes});
}

}  // namespace

Dataset TFRecordDataset(std::vector<std::string> files, TFRecordDatasetOptions options) {
  absl::StatusOr<std::vector<std::string>> matched = MatchFiles(files);
  if (!matched.ok()) return Dataset(ErrorNode(matched.status()));
  if (absl::Status status = CheckFilesExist("TFRecord", *matched); !status.ok()) {
    return Dataset(ErrorNode(std::move(status)));
  }
  if (options.num_parallel_reads < 1) {
    return Dataset(
        ErrorNode(InvalidArgument("TFRecord: num_parallel_reads is ", options.num_parallel_reads,
                                  "; it must be at least 1")));
  }
  if (options.indexed) return Dataset(IndexedRecordsNode(*matched, options));
  const int num_parallel_reads = options.num_parallel_reads;
  if (num_parallel_reads == 1) return Dataset(RecordsNode(*std::move(matched), options));
  const auto read = [options](const Element& file) -> absl::StatusOr<NodePtr> {
    return RecordsNode({file.features.at("").scalar<std::string>()}, options);
  };
  return Dataset(InterleaveNode(
      SlicesNode({.features = Array::Strings(*matched), .labels = {}}, "TFRecord",
                 "TFRecordDataset"),
      TypedExpandFn(read, RecordsNode(*matched, options)),
      {.cycle_length = num_parallel_reads, .num_parallel_calls = num_parallel_reads}));
}

Dataset TextLineDataset(std::vector<std::string> files, FileDatasetOptions options) {
  absl::StatusOr<std::vector<std::string>> matched = MatchFiles(files);
  if (!matched.ok()) return Dataset(ErrorNode(matched.status()));
  const LineSourceOptions reading = {.compression = options.compression,
                                     .buffer_size_bytes = options.buffer_size_bytes};
  const auto open = [reading](const std::string& path) { return OpenLines(path, reading); };
  return Dataset(FileRecordsNode(
      {.label = "TextLine", .kind = "line", .files = *std::move(matched), .open = open}));
}

StatusOrRange<std::vector<std::string>> MatchFiles(StringArg pattern) {
  EST_ASSIGN_OR_RETURN(std::vector<std::string> files, Glob(pattern));
  if (!files.empty()) return files;
  return NotFound("ListFiles: no file matches \"", pattern, "\"", NoFileSystemFor(pattern));
}

StatusOrRange<std::vector<std::string>> MatchFiles(const std::vector<std::string>& patterns) {
  std::vector<std::string> files, unmatched;
  for (const std::string& pattern : patterns) {
    bool is_file = pattern.find_first_of("*?[") == std::string::npos;
    if (!is_file) {
      EST_ASSIGN_OR_RETURN(is_file, Exists(pattern));
    }
    if (is_file) {
      files.push_back(pattern);
      continue;
    }
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> matched, Glob(pattern));
    files.insert(files.end(), matched.begin(), matched.end());
    if (matched.empty())
      unmatched.push_back(absl::StrCat("\"", pattern, "\"", NoFileSystemFor(pattern)));
  }
  if (unmatched.empty()) return files;
  return NotFound("no file matches ", JoinSome(unmatched, kShownNames));
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
