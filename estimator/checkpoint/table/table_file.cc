#include "estimator/checkpoint/table/table_file.h"

#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/table/table_key.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

// On disk: do not change.
constexpr int64_t kFooterBytes = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
// The bytes after every block: its type (one byte) and a masked crc32c.
constexpr int64_t kTrailerBytes = 5;
constexpr char kPlainBlock = 0, kSnappyBlock = 1;

constexpr char kAllLost[] = "; without it no entry can be found: every variable is lost";
constexpr size_t kPieceBytes = size_t{1} << 20;
// Snappy's shortest code for 64 bytes takes 3 bytes, so no valid block expands more than this.
constexpr size_t kMaxExpansion = 32;

absl::Status Damaged(absl::string_view path, absl::string_view what) {
  return DataLoss(path, ": not a whole checkpoint: ", what);
}

absl::Status UnknownType(char type) {
  return DataLoss("unknown compression type ", static_cast<int>(type));
}

std::string PlaceOf(const TableFile::Block& block) {
  return absl::StrCat("block of ", block.size, " bytes at offset ", block.offset);
}

// Reads a handle, two varints: the place of a block in the first `limit` bytes of the file.
bool ReadHandle(absl::string_view bytes, size_t* position, int64_t limit, TableFile::Block* block) {
  uint64_t offset = 0, size = 0;
  const auto end = static_cast<uint64_t>(limit);
  if (!ReadVarint(bytes, position, &offset) || !ReadVarint(bytes, position, &size) ||
      offset > end || size > end - offset ||
      end - offset - size < static_cast<uint64_t>(kTrailerBytes)) {
    return false;
  }
  block->offset = static_cast<int64_t>(offset);
  block->size = static_cast<int64_t>(size);
  return true;
}

// nullopt if `compressed` is not one whole block of snappy. The block states the size of its
// result: a damaged one may state gigabytes, so the size is checked before memory is allocated for
// it.
std::optional<std::string> Uncompress(const std::string& compressed) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(compressed.data(), compressed.size(), &size) ||
      size > compressed.size() * kMaxExpansion) {
    return std::nullopt;
  }
  std::string plain(size, '\0');
  if (!snappy::RawUncompress(compressed.data(), compressed.size(), plain.data())) {
    return std::nullopt;
  }
  return plain;
}

int64_t EndOf(const TableFile::Block& block) { return block.offset + block.size + kTrailerBytes; }

}  // namespace

absl::StatusOr<std::unique_ptr<TableFile>> TableFile::Open(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(auto file, RandomAccessFile::Open(path));
  std::unique_ptr<TableFile> table(new TableFile(std::move(file)));
  Block meta, index;
  EST_RETURN_IF_ERROR(table->ReadFooter(&meta, &index));
  // Nothing is read from it, but damage anywhere in the file must be found.
  if (const absl::Status status = table->Verify(meta); !status.ok()) {
    if (!absl::IsDataLoss(status)) return status;
    return Damaged(path, absl::StrCat("the meta ", PlaceOf(meta), ": ", status.message(),
                                      "; it has no entries of variables"));
  }
  EST_RETURN_IF_ERROR(table->ReadIndexBlock(index));
  return table;
}

bool TableFile::EndsAsOne(absl::string_view path) {
  const auto file = RandomAccessFile::Open(path);
  uint64_t magic = 0;
  constexpr int64_t kMagicBytes = sizeof(magic);
  return file.ok() && (*file)->size() >= kFooterBytes &&
         (*file)
             ->ReadExactly((*file)->size() - kMagicBytes, sizeof(magic),
                           reinterpret_cast<char*>(&magic))
             .ok() &&
         magic == kMagic;
}

absl::Status TableFile::ReadExactly(int64_t offset, size_t n, char* bytes) const {
  // All places were compared with the file's size, so a read beyond its end finds a file that was
  // truncated since.
  const absl::Status status = file_->ReadExactly(offset, n, bytes);
  if (!absl::IsOutOfRange(status)) return status;
  return DataLoss("the file was truncated: ", n, " bytes at offset ", offset, " are missing");
}

ReadAt TableFile::Reader() const {
  return [this](int64_t offset, size_t n, char* bytes) { return ReadExactly(offset, n, bytes); };
}

// The footer has no checksum, so every byte in it is checked against the only value it may have.
absl::Status TableFile::ReadFooter(Block* meta, Block* index) const {
  const int64_t limit = file_->size() - kFooterBytes;
  if (limit < 0) {
    return Damaged(path(), absl::StrCat("it ends at offset ", file_->size(),
                                        ", too short for a footer", kAllLost));
  }
  std::string footer(kFooterBytes, '\0');
  EST_RETURN_IF_ERROR(ReadExactly(limit, footer.size(), footer.data()));
  uint64_t magic = 0;
  const size_t magic_at = footer.size() - sizeof(magic);
  std::memcpy(&magic, footer.data() + magic_at, sizeof(magic));
  const auto damaged = [&](size_t at, absl::string_view what) {
    return Damaged(path(), absl::StrCat("the footer at offset ", limit, ", byte ", at,
                                        " of it: ", what, kAllLost));
  };
  if (magic != kMagic) return damaged(magic_at, "its last 8 bytes are not those of a table");
  size_t position = 0;
  for (Block* const block : {meta, index}) {
    const size_t begin = position;
    if (!ReadHandle(footer, &position, limit, block)) {
      return damaged(begin, absl::StrCat("the handle of the ", block == meta ? "meta" : "index",
                                         " block points outside of the file"));
    }
  }
  std::string canonical;  // the shortest varints, as a number can be written in several ways
  for (const int64_t value : {meta->offset, meta->size, index->offset, index->size}) {
    AppendVarint(static_cast<uint64_t>(value), &canonical);
  }
  if (absl::string_view(footer).substr(0, position) != canonical) {
    return damaged(0, "the handles are too long");
  }
  const size_t padding_end = footer.find_first_not_of('\0', position);
  if (padding_end < magic_at) return damaged(padding_end, "the padding is not zero");
  // A table ends with these blocks and the footer. This finds handles that are wrong but possible.
  if (EndOf(*index) != limit || EndOf(*meta) != index->offset) {
    return damaged(0, absl::StrCat("the meta ", PlaceOf(*meta), " and the index ", PlaceOf(*index),
                                   " are not adjacent"));
  }
  return absl::OkStatus();
}

absl::Status TableFile::ReadIndexBlock(const Block& index) {
  const auto damaged = [&](absl::string_view what) {
    return Damaged(path(), absl::StrCat("the index ", PlaceOf(index), ": ", what, kAllLost));
  };
  const auto contents = Read(index);
  if (absl::IsDataLoss(contents.status())) return damaged(contents.status().message());
  EST_RETURN_IF_ERROR(contents.status());
  auto walker = BlockWalker::Open(*contents);
  if (!walker.ok()) return damaged(walker.status().message());
  for (;;) {
    const absl::StatusOr<bool> more = walker->Next();
    if (!more.ok()) return damaged(more.status().message());
    if (!*more) return absl::OkStatus();
    Block block{.offset = 0, .size = 0, .last_key = walker->key()};
    size_t position = 0;
    const absl::string_view handle = absl::string_view(*contents).substr(
        static_cast<size_t>(walker->value_offset()), static_cast<size_t>(walker->value_size()));
    if (!ReadHandle(handle, &position, index.offset, &block)) {
      return damaged(absl::StrCat("byte ", walker->value_offset(),
                                  " of it: a handle points outside of the data blocks"));
    }
    // If blocks overlapped, the same bytes could be two entries with values of different sizes.
    if (!blocks_.empty() && block.offset < EndOf(blocks_.back())) {
      return damaged(absl::StrCat("byte ", walker->value_offset(), " of it: the ", PlaceOf(block),
                                  " begins before the end of the one before"));
    }
    blocks_.push_back(std::move(block));
  }
}

absl::Status TableFile::Verify(const Block& block) const {
  const int64_t covered = block.size + 1;  // the block and its type
  std::string piece;
  uint32_t crc = 0;
  // In pieces, because a block of a V1 checkpoint can be as large as a variable.
  for (int64_t done = 0; done < covered; done += static_cast<int64_t>(piece.size())) {
    piece.resize(std::min(kPieceBytes, static_cast<size_t>(covered - done)));
    EST_RETURN_IF_ERROR(ReadExactly(block.offset + done, piece.size(), piece.data()));
    crc = ExtendCrc32c(crc, piece);
  }
  uint32_t stored = 0;
  EST_RETURN_IF_ERROR(
      ReadExactly(block.offset + covered, sizeof(stored), reinterpret_cast<char*>(&stored)));
  if (UnmaskCrc32c(stored) == crc) return absl::OkStatus();
  return DataLoss("its crc32c is ", absl::Hex(crc, absl::kZeroPad8), ", but the stored one is ",
                  absl::Hex(UnmaskCrc32c(stored), absl::kZeroPad8));
}

absl::StatusOr<std::string> TableFile::Read(const Block& block) const {
  EST_RETURN_IF_ERROR(Verify(block));  // first, so that a damaged block is not allocated
  std::string contents(static_cast<size_t>(block.size) + 1, '\0');
  EST_RETURN_IF_ERROR(ReadExactly(block.offset, contents.size(), contents.data()));
  const char type = contents.back();
  contents.pop_back();
  if (type == kPlainBlock) return contents;
  if (type != kSnappyBlock) return UnknownType(type);
  auto plain = Uncompress(contents);
  if (!plain) return DataLoss("it is compressed, but not by snappy");
  return *std::move(plain);
}

absl::Status TableFile::WalkOn(size_t i, absl::StatusOr<BlockWalker> walker, Walked* walked,
                               const std::function<absl::Status(const BlockWalker&)>& fn) const {
  if (absl::IsDataLoss(walker.status())) return Corrupt(i, walker.status().message());
  EST_RETURN_IF_ERROR(walker.status());
  for (;;) {
    const absl::StatusOr<bool> more = walker->Next();
    if (absl::IsDataLoss(more.status())) return Corrupt(i, more.status().message());
    EST_RETURN_IF_ERROR(more.status());
    if (!*more) return absl::OkStatus();
    const std::string& key = walker->key();
    // A key shares a prefix with the one before, so a small damaged file can have gigabytes of
    // keys.
    walked->key_bytes += static_cast<int64_t>(key.size());
    if (walked->key_bytes > kMaxKeyBytes) return Corrupt(i, kTooManyKeyBytes);
    if (walked->any && key <= walked->last_key) {
      return Corrupt(i, "its keys are not greater than those of the block before");
    }
    walked->any = true;
    walked->last_key = key;
    EST_RETURN_IF_ERROR(fn(*walker));
  }
}

absl::Status TableFile::ReadEntries(const OnValue& fn) const {
  Walked walked;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const auto contents = Read(blocks_[i]);
    auto walker = contents.ok() ? BlockWalker::Open(*contents) : contents.status();
    EST_RETURN_IF_ERROR(WalkOn(i, std::move(walker), &walked, [&](const BlockWalker& entry) {
      return fn(entry.key(),
                absl::string_view(*contents).substr(static_cast<size_t>(entry.value_offset()),
                                                    static_cast<size_t>(entry.value_size())));
    }));
  }
  return absl::OkStatus();
}

absl::Status TableFile::WalkEntries(const OnPlace& fn) const {
  Walked walked;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const auto place = [&](const BlockWalker& entry) {
      const int64_t begin = blocks_[i].offset + entry.value_offset();
      return fn(entry.key(), {.block = i, .begin = begin, .end = begin + entry.value_size()});
    };
    EST_RETURN_IF_ERROR(WalkOn(i, WalkBlock(blocks_[i]), &walked, place));
  }
  return absl::OkStatus();
}

absl::Status TableFile::VerifyBlock(size_t i) const {
  const absl::Status status = Verify(blocks_[i]);
  return absl::IsDataLoss(status) ? Corrupt(i, status.message()) : status;
}

ReadAt TableFile::ReaderOf(const Block& block) const {
  return [this, offset = block.offset](int64_t at, size_t n, char* bytes) {
    return ReadExactly(offset + at, n, bytes);
  };
}

absl::StatusOr<BlockWalker> TableFile::WalkBlock(const Block& block) const {
  // The block is not verified here, because WhatIsIn also walks damaged ones.
  char type = 0;
  EST_RETURN_IF_ERROR(ReadExactly(block.offset + block.size, 1, &type));
  if (type == kSnappyBlock) {
    return Unimplemented(path(), ": the ", PlaceOf(block), " is compressed");
  }
  if (type != kPlainBlock) return UnknownType(type);
  return BlockWalker::Open(ReaderOf(block), block.size);
}

std::string TableFile::WhatIsIn(size_t i) const {
  const absl::string_view after = i == 0 ? "" : absl::string_view(blocks_[i - 1].last_key);
  std::set<std::string> names;
  bool skipped = false;
  absl::StatusOr<BlockWalker> walker = WalkBlock(blocks_[i]);
  std::string plain;
  if (absl::IsUnimplemented(walker.status())) {  // compressed
    std::string contents(static_cast<size_t>(blocks_[i].size), '\0');
    if (ReadExactly(blocks_[i].offset, contents.size(), contents.data()).ok()) {
      plain = Uncompress(contents).value_or("");
    }
    walker = BlockWalker::Open(plain);
  } else if (!walker.ok()) {
    walker = BlockWalker::OpenDamaged(ReaderOf(blocks_[i]), blocks_[i].size);
    skipped = true;
  }
  while (walker.ok()) {
    const absl::StatusOr<bool> more = walker->Next();
    skipped |= !more.ok();
    if ((more.ok() && !*more) || (!more.ok() && !walker->SkipToRestart())) break;
    // Damaged lengths give bytes that are not a key. Only keys in the range of the block count.
    const bool may_be =
        more.ok() && (i == 0 || walker->key() > after) && walker->key() <= blocks_[i].last_key;
    if (may_be) names.insert(VariableOfKey(walker->key()));
    skipped |= !may_be;
  }
  // The empty key has the header of a bundle, or the list of tensors of a V1 checkpoint.
  names.erase("");
  const std::string place =
      blocks_.size() == 1
          ? "every entry"
          : absl::StrCat("the entries ",
                         i == 0
                             ? "from the first"
                             : absl::StrCat("after \"", absl::CEscape(VariableOfKey(after)), "\""),
                         " up to \"", absl::CEscape(VariableOfKey(blocks_[i].last_key)), "\"");
  if (names.empty()) return absl::StrCat("; it holds ", place, ", of which none can be read");
  return absl::StrCat("; it holds ", place, ", those of ", ListNames({names.begin(), names.end()}),
                      skipped ? ", as far as they can be read" : "");
}

absl::Status TableFile::Corrupt(size_t i, absl::string_view what) const {
  return Damaged(path(), absl::StrCat("the ", PlaceOf(blocks_[i]), ": ", what, WhatIsIn(i)));
}

}  // namespace estimator
