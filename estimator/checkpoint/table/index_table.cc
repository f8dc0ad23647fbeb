#include "estimator/checkpoint/table/index_table.h"

#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/table/table_file.h"

namespace estimator {
namespace {

leveldb::Slice ToSlice(absl::string_view text) { return {text.data(), text.size()}; }

// Lets leveldb write through base/file, for its error messages and its fault injection.
class LevelDbFile : public leveldb::WritableFile {
 public:
  explicit LevelDbFile(estimator::WritableFile* file) : file_(file) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    return Keep(file_->Append({data.data(), data.size()}));
  }
  leveldb::Status Close() override { return Keep(file_->Close()); }
  // leveldb flushes after every block, which is not needed here.
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return Keep(file_->Sync()); }
  const absl::Status& status() const { return status_; }

 private:
  leveldb::Status Keep(const absl::Status& status) {
    if (status.ok()) return leveldb::Status::OK();
    status_ = status;
    return leveldb::Status::IOError("see the kept status");
  }

  estimator::WritableFile* const file_;
  absl::Status status_;
};

}  // namespace

absl::Status WriteIndexTable(absl::string_view path,
                             const std::map<std::string, std::string>& entries) {
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path));
  LevelDbFile table_file(file.get());
  leveldb::Options options;
  // TensorFlow's BundleWriter does not compress either, because its releases before 1.1 cannot read
  // compressed tables.
  options.compression = leveldb::kNoCompression;
  leveldb::TableBuilder builder(options, &table_file);
  for (const auto& [key, value] : entries) builder.Add(ToSlice(key), ToSlice(value));
  const leveldb::Status status = builder.Finish();
  // leveldb's status lacks the message of the file's error.
  EST_RETURN_IF_ERROR(table_file.status());
  if (!status.ok()) return absl::InternalError(absl::StrCat(path, ": ", status.ToString()));
  // The file is renamed next: after a crash, its final name must not belong to an incomplete index.
  EST_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadIndexTable(
    absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const auto table, TableFile::Open(path));
  std::vector<std::pair<std::string, std::string>> entries;
  EST_RETURN_IF_ERROR(table->ReadEntries([&](const std::string& key, absl::string_view value) {
    entries.emplace_back(key, std::string(value));
    return absl::OkStatus();
  }));
  return entries;
}

}  // namespace estimator
