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
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/snappy.h"
#include "estimator/checkpoint/varint.h"

namespace estimator {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// The end of every table: two block handles, padding, and this number. On disk: do not change.
constexpr size_t kFooterBytes = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
// After every block: its type (a byte) and a masked crc32c.
constexpr size_t kTrailerBytes = 5;
constexpr char kSnappyBlock = 1;

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

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  // of the block, without its trailer

  // With its trailer.
  bool LiesWithin(uint64_t limit) const {
    return offset <= limit && size <= limit - offset && limit - offset - size >= kTrailerBytes;
  }
};

// Whether the entries of a block, uncompressed, lie in it. leveldb adds their lengths in 32 bits
// and would read far past a block whose checksum is right, but whose lengths are not.
//   entry: varint shared, varint fresh, varint value, the fresh bytes of the key, those of the
//   value block: entries, the offset of each restart as a u32, their number as a u32
//   is_index: every value is to be the handle of a block in the first `limit` bytes of the file;
//   leveldb allocates what a handle asks for
bool EntriesLieInBlock(absl::string_view block, bool is_index, uint64_t limit) {
  uint32_t num_restarts = 0;
  uint32_t first_restart = 0;
  if (block.size() < sizeof(num_restarts)) return false;
  std::memcpy(&num_restarts, block.data() + block.size() - sizeof(num_restarts),
              sizeof(num_restarts));
  const uint64_t tail = (uint64_t{num_restarts} + 1) * sizeof(uint32_t);
  if (num_restarts == 0 || tail > block.size()) return false;
  const absl::string_view entries = block.substr(0, block.size() - tail);
  std::memcpy(&first_restart, block.data() + entries.size(), sizeof(first_restart));
  if (first_restart != 0) return false;
  uint64_t key_size = 0;
  for (size_t position = 0; position < entries.size();) {
    uint64_t shared = 0;
    uint64_t fresh = 0;
    uint64_t value = 0;
    if (!ReadVarint(entries, &position, &shared) || !ReadVarint(entries, &position, &fresh) ||
        !ReadVarint(entries, &position, &value) || shared > key_size ||
        fresh > entries.size() - position || value > entries.size() - position - fresh) {
      return false;
    }
    key_size = shared + fresh;
    position += fresh;
    if (is_index) {
      const absl::string_view handle = entries.substr(position, value);
      BlockHandle target;
      size_t at = 0;
      if (!ReadVarint(handle, &at, &target.offset) || !ReadVarint(handle, &at, &target.size) ||
          !target.LiesWithin(limit)) {
        return false;
      }
    }
    position += value;
  }
  return true;
}

// The bytes of a whole table, in memory.
class TableBytes : public leveldb::RandomAccessFile {
 public:
  explicit TableBytes(absl::string_view bytes) : bytes_(bytes) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char*) const override {
    if (offset > bytes_.size() || n > bytes_.size() - offset) {
      return leveldb::Status::Corruption("a block lies outside of the file");
    }
    *result = leveldb::Slice(bytes_.data() + offset, n);
    const bool is_footer = offset + n == bytes_.size();
    if (is_footer || n < kTrailerBytes) return leveldb::Status::OK();
    last_offset_ = offset;
    const absl::string_view block = bytes_.substr(offset, n - kTrailerBytes);
    const char type = bytes_[offset + block.size()];
    // The index block is the last one before the footer.
    const uint64_t limit = bytes_.size() - kFooterBytes;
    const bool is_index = offset + n == limit;
    const auto plain = type == kSnappyBlock ? SnappyUncompress(block) : std::string(block);
    if (!plain || !EntriesLieInBlock(*plain, is_index, offset)) {
      return leveldb::Status::Corruption("its entries do not lie in it");
    }
    return leveldb::Status::OK();
  }
  // Of the block that was read last: the one that an error is about.
  uint64_t last_offset() const { return last_offset_; }

 private:
  const absl::string_view bytes_;
  mutable uint64_t last_offset_ = 0;
};

absl::Status Corrupt(absl::string_view path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": not a whole checkpoint index: ", what));
}

// The footer has no checksum, and leveldb allocates what its handles ask for and looks neither at
// the padding nor into the meta block, where TensorFlow keeps nothing.
absl::Status CheckFooter(absl::string_view path, absl::string_view bytes) {
  if (bytes.size() < kFooterBytes) {
    return Corrupt(path, absl::StrCat("it has only ", bytes.size(), " bytes"));
  }
  const uint64_t limit = bytes.size() - kFooterBytes;
  const absl::string_view footer = bytes.substr(limit);
  uint64_t magic = 0;
  std::memcpy(&magic, footer.data() + kFooterBytes - sizeof(magic), sizeof(magic));
  if (magic != kMagic) return Corrupt(path, "its last 8 bytes are not a table's");
  size_t position = 0;
  BlockHandle meta, index;
  for (const auto& [name, block] :
       {std::make_pair("meta", &meta), std::make_pair("index", &index)}) {
    if (!ReadVarint(footer, &position, &block->offset) ||
        !ReadVarint(footer, &position, &block->size) || !block->LiesWithin(limit)) {
      return Corrupt(path, absl::StrCat("byte ", limit, ": the footer's handle of the ", name,
                                        " block points out of the file"));
    }
  }
  std::string canonical;  // a varint can be written in more than one way
  for (const uint64_t value : {meta.offset, meta.size, index.offset, index.size}) {
    AppendVarint(value, &canonical);
  }
  if (footer.substr(0, position) != canonical) {
    return Corrupt(path, absl::StrCat("byte ", limit, ": the footer's handles are too long"));
  }
  if (footer.find_first_not_of('\0', position) < kFooterBytes - sizeof(magic)) {
    return Corrupt(path,
                   absl::StrCat("byte ", limit + position, ": the footer's padding is not zero"));
  }
  if (index.offset + index.size + kTrailerBytes != limit ||
      meta.offset + meta.size + kTrailerBytes != index.offset) {
    return Corrupt(path, absl::StrCat("byte ", limit, ": the footer's handles do not meet"));
  }
  const size_t covered = meta.size + 1;  // the block and its type
  uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + meta.offset + covered, sizeof(stored));
  if (UnmaskCrc32c(stored) != Crc32c(bytes.substr(meta.offset, covered))) {
    return Corrupt(path, absl::StrCat("the crc32c of the meta block (", meta.size,
                                      " bytes at offset ", meta.offset, ") is wrong"));
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
  const auto corrupt_block = [&](const leveldb::Status& why) {
    return Corrupt(path,
                   absl::StrCat("the block at offset ", file.last_offset(), ": ", why.ToString()));
  };
  if (!status.ok()) return corrupt_block(status);
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
  if (!iterator->status().ok()) return corrupt_block(iterator->status());
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
