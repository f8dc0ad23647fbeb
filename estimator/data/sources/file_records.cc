#include "estimator/data/sources/file_records.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

// State: file, byte offset, record within the file; then the number of files,
// the name of the file without its folder (bytes), and 0, which has no meaning any more. The last
// three end the state and may be absent.
class FileRecordsIterator final : public NodeIterator {
 public:
  // errors: null if no record is skipped.
  FileRecordsIterator(std::shared_ptr<const FileRecordsOptions> files,
                      std::shared_ptr<SkippedErrors> errors)
      : files_(std::move(files)), errors_(std::move(errors)) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    EST_ASSIGN_OR_RETURN(std::optional<std::string> record, NextRecord());
    if (!record) return std::nullopt;
    return StringElement(*std::move(record));
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    if (errors_ != nullptr) {  // only reading tells which records are damaged
      for (; skipped < count; ++skipped) {
        EST_ASSIGN_OR_RETURN(const std::optional<std::string> record, NextRecord());
        if (!record) break;
      }
      return skipped;
    }
    while (skipped < count && file_ < files_->files.size()) {
      EST_RETURN_IF_ERROR(Open());
      EST_ASSIGN_OR_RETURN(const bool more, source_->Skip());
      if (more) {
        ++skipped;
      } else {
        NextFile();
      }
    }
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override {
    const RecordPosition position = source_ ? source_->position() : RecordPosition();
    EST_RETURN_IF_ERROR(
        SaveFields(state, file_, position.offset, position.index, files_->files.size()));
    state.Bytes(file_ < files_->files.size() ? Basename(files_->files[file_]) : "");
    state.Int(0);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    uint64_t file = 0;
    RecordPosition position;
    EST_RETURN_IF_ERROR(RestoreFields(state, file, position.offset, position.index));
    const size_t num_files = files_->files.size();
    if (file > num_files) {
      return InvalidArgument(files_->label, ": the saved input position is in file ", file,
                             ", but there are only ", num_files, " files now");
    }
    file_ = file;
    if (state.remaining() > 0) EST_RETURN_IF_ERROR(RestoreName(state));
    if (file_ == num_files || position.offset == 0) return absl::OkStatus();
    EST_RETURN_IF_ERROR(Open());
    return source_->Seek(position);
  }
  std::string Where() const override {
    if (last_.file >= files_->files.size()) return files_->label;
    return absl::StrCat(files_->kind, " ", last_.position.index, " of ", files_->files[last_.file],
                        " at byte ", last_.position.offset);
  }

 private:
  absl::Status Open() {
    if (source_ != nullptr) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(source_, files_->open(files_->files[file_]));
    return absl::OkStatus();
  }
  void NextFile() {
    source_ = nullptr;
    ++file_;
  }
  absl::StatusOr<std::optional<std::string>> NextRecord() {
    while (file_ < files_->files.size()) {
      EST_RETURN_IF_ERROR(Open());
      last_ = {file_, source_->position()};
      absl::StatusOr<std::optional<std::string>> record = source_->Next();
      if (!record.ok()) {
        EST_RETURN_IF_ERROR(SkipBad(record.status()));
      } else if (record->has_value()) {
        return record;
      } else {
        NextFile();
      }
    }
    return std::nullopt;
  }
  // Skips the record for which Next returned `error`.
  absl::Status SkipBad(const absl::Status& error) {
    if (errors_ == nullptr || !absl::IsDataLoss(error)) return error;
    const bool found_next = source_->Skip().ok();
    EST_RETURN_IF_ERROR(errors_->Skip(error, Where(),
                                      found_next
                                          ? ""
                                          : ", with the rest of the file: nothing says where "
                                            "the next record begins"));
    if (!found_next) NextFile();
    return absl::OkStatus();
  }
  // Reads the end of a state, which older ones do not have.
  absl::Status RestoreName(StateReader& state) {
    EST_ASSIGN_OR_RETURN(const uint64_t num_files, state.Unsigned());
    EST_ASSIGN_OR_RETURN(const absl::string_view name, state.Bytes());
    EST_RETURN_IF_ERROR(state.Int().status());
    if (name.empty() || file_ == files_->files.size()) return absl::OkStatus();
    const absl::string_view now = Basename(files_->files[file_]);
    if (now == name) return absl::OkStatus();
    return InvalidArgument(files_->label,
                           ": the files have changed: the saved input position is in file ", file_,
                           ", which was \"", name, "\" of ", num_files, " files and is now \"", now,
                           "\" of ", files_->files.size());
  }

  struct Last {
    size_t file = 0;
    RecordPosition position;
  };
  std::shared_ptr<const FileRecordsOptions> files_;
  std::shared_ptr<SkippedErrors> errors_;
  size_t file_ = 0;
  std::unique_ptr<RecordSource> source_;
  Last last_;
};

class FileRecords final : public DatasetNode {
 public:
  explicit FileRecords(std::shared_ptr<const FileRecordsOptions> files)
      : files_(std::move(files)) {}
  std::string Label() const override { return files_->label; }
  int64_t Cardinality() const override { return -1; }  // a damaged record may be skipped
  int64_t ExamplesPerEpoch() const override { return files_->num_records; }
  std::optional<ElementSpec> element_spec() const override { return StringSpec(); }
  int64_t FileBytes() const override {
    int64_t bytes = 0;
    for (const std::optional<int64_t> size : FileSizes(files_->files)) bytes += size.value_or(0);
    return bytes;
  }
  // A pipe and a terminal have size 0.
  bool may_wait() const override {
    const std::vector<std::optional<int64_t>> sizes = FileSizes(files_->files);
    return std::any_of(sizes.begin(), sizes.end(),
                       [](std::optional<int64_t> size) { return size.value_or(0) == 0; });
  }
  std::optional<std::string> Advice() const override {
    constexpr size_t kMany = 32;
    constexpr int64_t kSmallBytes = 10'000'000;
    constexpr int64_t kSmallBuffer = 32 << 10;
    const int64_t buffer = files_->buffer_size_bytes;
    const auto count = static_cast<int64_t>(files_->files.size());
    const int64_t mean_bytes = FileBytes() / std::max<int64_t>(count, 1);
    if (buffer > 0 && buffer < kSmallBuffer && mean_bytes > buffer) {
      return absl::StrCat(Label(), " reads ", HumanBytes(buffer),
                          " at a time: raise its buffer_size_bytes to 256 KiB, the default");
    }
    if (files_->files.size() < kMany || mean_bytes > kSmallBytes) return std::nullopt;
    return absl::StrCat(Label(), " reads ", count, " files of ", HumanBytes(mean_bytes),
                        " on average: fewer files of about 100 MB are read faster");
  }
  std::string SpeedAdvice() const override {
    return "read several files at a time: set num_parallel_reads in its options";
  }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    return std::make_unique<FileRecordsIterator>(files_, context.errors);
  }

 private:
  std::shared_ptr<const FileRecordsOptions> files_;
};

}  // namespace

NodePtr FileRecordsNode(FileRecordsOptions options) {
  absl::Status status = CheckFilesExist(options.label, options.files);
  if (!status.ok()) return ErrorNode(std::move(status));
  return std::make_shared<FileRecords>(
      std::make_shared<const FileRecordsOptions>(std::move(options)));
}

Element StringElement(std::string text) {
  Array array(DType::kString, Shape{});
  array.data<std::string>()[0] = std::move(text);
  return {.features = std::move(array), .labels = {}};
}
ElementSpec StringSpec() { return {.features = {{DType::kString, Shape{}}}, .labels = {}}; }

absl::Status CheckFilesExist(absl::string_view what, const std::vector<std::string>& files) {
  if (files.empty()) return InvalidArgument(what, ": there are no files");
  std::vector<std::string> missing;
  const std::vector<std::optional<int64_t>> sizes = FileSizes(files);
  for (size_t i = 0; i < files.size(); ++i) {
    if (!sizes[i]) missing.push_back(files[i]);
  }
  if (missing.empty()) return absl::OkStatus();
  return NotFound(what, ": no such file: ", JoinSome(missing, kShownNames),
                  NoFileSystemFor(missing[0]));
}

}  // namespace estimator
