#include "estimator/data/sources/file_records.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file_system.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

struct Files {
  std::string label;
  std::string kind;
  std::vector<std::string> paths;
  OpenRecordsFn open;
};

// State: file, byte offset, record within the file.
class FileRecordsIterator final : public NodeIterator {
 public:
  explicit FileRecordsIterator(std::shared_ptr<const Files> files) : files_(std::move(files)) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (file_ < files_->paths.size()) {
      EST_RETURN_IF_ERROR(Open());
      last_ = {file_, source_->position().index};
      EST_ASSIGN_OR_RETURN(std::optional<std::string> record, source_->Next());
      if (record) {
        Array array(DType::kString, Shape{});
        array.data<std::string>()[0] = *std::move(record);
        return Element{.features = std::move(array), .labels = {}};
      }
      NextFile();
    }
    return std::nullopt;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count && file_ < files_->paths.size()) {
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
    state.Int(static_cast<uint64_t>(file_));
    state.Int(position.offset);
    state.Int(position.index);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(const uint64_t file, state.Unsigned());
    RecordPosition position;
    EST_ASSIGN_OR_RETURN(position.offset, state.Int());
    EST_ASSIGN_OR_RETURN(position.index, state.Int());
    if (file > files_->paths.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(files_->label, ": the saved input position is in file ", file,
                       ", but there are only ", files_->paths.size(), " files now"));
    }
    file_ = file;
    if (file_ == files_->paths.size() || position.offset == 0) return absl::OkStatus();
    EST_RETURN_IF_ERROR(Open());
    return source_->Seek(position);
  }
  std::string Where() const override {
    if (last_.file >= files_->paths.size()) return files_->label;
    return absl::StrCat(files_->kind, " ", last_.index, " of ", files_->paths[last_.file]);
  }

 private:
  absl::Status Open() {
    if (source_ != nullptr) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(source_, files_->open(files_->paths[file_]));
    return absl::OkStatus();
  }
  void NextFile() {
    source_ = nullptr;
    ++file_;
  }

  struct Last {
    size_t file = 0;
    int64_t index = 0;
  };
  std::shared_ptr<const Files> files_;
  size_t file_ = 0;
  std::unique_ptr<RecordSource> source_;
  Last last_;
};

class FileRecords final : public DatasetNode {
 public:
  explicit FileRecords(std::shared_ptr<const Files> files) : files_(std::move(files)) {}
  std::string Label() const override { return files_->label; }
  int64_t Cardinality() const override { return -1; }
  int64_t FileBytes() const override {
    int64_t bytes = 0;
    for (const std::string& path : files_->paths) bytes += FileSize(path).value_or(0);
    return bytes;
  }
  std::optional<std::string> Advice() const override {
    constexpr size_t kMany = 32;
    constexpr int64_t kSmallBytes = 10'000'000;
    const auto count = static_cast<int64_t>(files_->paths.size());
    const int64_t mean_bytes = FileBytes() / std::max<int64_t>(count, 1);
    if (files_->paths.size() < kMany || mean_bytes > kSmallBytes) return std::nullopt;
    return absl::StrCat(Label(), " reads ", count, " files of ", HumanBytes(mean_bytes),
                        " on average: fewer files of about 100 MB are read faster");
  }
  std::string SpeedAdvice() const override {
    return "read several files at a time: ListFiles(...).Interleave(..., {.cycle_length = 4})";
  }
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext&) const override {
    return std::make_unique<FileRecordsIterator>(files_);
  }

 private:
  std::shared_ptr<const Files> files_;
};

}  // namespace

NodePtr FileRecordsNode(std::string label, std::string kind, std::vector<std::string> files,
                        OpenRecordsFn open) {
  if (absl::Status status = CheckFilesExist(label, files); !status.ok()) return ErrorNode(status);
  return std::make_shared<FileRecords>(
      std::make_shared<const Files>(Files{.label = std::move(label),
                                          .kind = std::move(kind),
                                          .paths = std::move(files),
                                          .open = std::move(open)}));
}

absl::Status CheckFilesExist(absl::string_view what, const std::vector<std::string>& files) {
  if (files.empty()) return absl::InvalidArgumentError(absl::StrCat(what, ": there are no files"));
  std::vector<std::string> missing;
  for (const std::string& file : files) {
    if (!FileExists(file)) missing.push_back(file);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(what, ": no such file: ", absl::StrJoin(missing, ", ")));
}

}  // namespace estimator
