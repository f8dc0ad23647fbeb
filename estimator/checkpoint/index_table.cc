#include "estimator/checkpoint/index_table.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/varint.h"

namespace estimator {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// The end of every table: two block handles, padding, and this number. On disk: do not change.
constexpr size_t kFooterBytes = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57u;

leveldb::Slice ToSlice(absl::string_view text) { return {text.data(), text.size()}; }

// leveldb writes into our file, so that faults and error messages are those of base/file.
class TableFile : public leveldb::WritableFile {
 public:
  explicit TableFile(estimator::WritableFile* file) : file_(file) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    return Keep(file_->Append({data.data(), data.size()}));
  }
  leveldb::Status Close() override { return Keep(file_->Close()); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }  // asked after every block
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

// The bytes of a whole table, in memory.
class TableBytes : public leveldb::RandomAccessFile {
 public:
  explicit TableBytes(absl::string_view bytes) : bytes_(bytes) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char*) const override {
    if (offset > bytes_.size() || n > bytes_.size() - offset) {
      return leveldb::Status::Corruption("a block lies outside of the file");
    }
    *result = leveldb::Slice(bytes_.data() + offset, n);
    return leveldb::Status::OK();
  }

 private:
  const absl::string_view bytes_;
};

absl::Status Corrupt(absl::string_view path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": not a whole checkpoint index: ", what));
}

// The footer has no checksum, and leveldb allocates what its handles ask for.
absl::Status CheckFooter(absl::string_view path, absl::string_view bytes) {
  if (bytes.size() < kFooterBytes) {
    return Corrupt(path, absl::StrCat("it has only ", bytes.size(), " bytes"));
  }
  const absl::string_view footer = bytes.substr(bytes.size() - kFooterBytes);
  uint64_t magic = 0;
  std::memcpy(&magic, footer.data() + kFooterBytes - sizeof(magic), sizeof(magic));
  if (magic != kMagic) return Corrupt(path, "its last 8 bytes are not a table's");
  size_t position = 0;
  for (const char* const block : {"meta", "index"}) {
    uint64_t offset = 0;
    uint64_t size = 0;
    const uint64_t limit = bytes.size() - kFooterBytes;
    if (!ReadVarint(footer, &position, &offset) || !ReadVarint(footer, &position, &size) ||
        offset > limit || size > limit - offset) {
      return Corrupt(path, absl::StrCat("the footer's handle of the ", block,
                                        " block points out of the file"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Entries> ReadEntries(absl::string_view path, absl::string_view bytes) {
  leveldb::Options options;
  options.paranoid_checks = true;
  TableBytes file(bytes);
  leveldb::Table* opened = nullptr;
  const leveldb::Status status = leveldb::Table::Open(options, &file, bytes.size(), &opened);
  const std::unique_ptr<leveldb::Table> table(opened);
  if (!status.ok()) return Corrupt(path, status.ToString());
  leveldb::ReadOptions read_options;
  read_options.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> iterator(table->NewIterator(read_options));
  Entries entries;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    std::string key = iterator->key().ToString();
    if (!entries.empty() && key <= entries.back().first) {
      return Corrupt(
          path, absl::StrCat("the keys after \"", entries.back().first, "\" are not in order"));
    }
    entries.emplace_back(std::move(key), iterator->value().ToString());
  }
  if (!iterator->status().ok()) return Corrupt(path, iterator->status().ToString());
  return entries;
}

}  // namespace

absl::Status WriteIndexTable(absl::string_view path,
                             const std::map<std::string, std::string>& entries) {
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path));
  TableFile table_file(file.get());
  leveldb::Options options;
  options.compression = leveldb::kNoCompression;
  leveldb::TableBuilder builder(options, &table_file);
  for (const auto& [key, value] : entries) builder.Add(ToSlice(key), ToSlice(value));
  const leveldb::Status status = builder.Finish();
  EST_RETURN_IF_ERROR(table_file.status());
  if (!status.ok()) return absl::InternalError(absl::StrCat(path, ": ", status.ToString()));
  EST_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::StatusOr<Entries> ReadIndexTable(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  EST_RETURN_IF_ERROR(CheckFooter(path, bytes));
  try {
    return ReadEntries(path, bytes);
  } catch (const std::bad_alloc&) {
    return Corrupt(path, "a block asks for more memory than there is");
  }
}

}  // namespace estimator
