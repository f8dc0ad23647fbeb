// A leveldb table, read block by block.
//
//   data blocks, a meta block (of TensorFlow's: empty), an index block, a footer of 48 bytes
//   block:       contents (table_block.h), a byte that is 1 if snappy compressed them, a masked
//                crc32c of both
//   index block: for each data block a key, not less than any in it and less than those of the
//                next one, and as its value two varints: the block's offset and size
//   footer:      four varints, the offsets and sizes of the meta and the index block; zeros; 8
//                bytes that say that it is one
// Read here and not by leveldb's Table, because an error is to say which entries are lost, and
// because the blocks of TensorFlow's old checkpoints are larger than memory may be.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_TABLE_FILE_H_
#define ESTIMATOR_CHECKPOINT_TABLE_TABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/checkpoint/table/table_block.h"

namespace estimator {

// Thread-safe. Nothing in the file is trusted.
class TableFile {
 public:
  struct Block {
    int64_t offset = 0;
    int64_t size = 0;      // bytes of its contents, as they are stored
    std::string last_key;  // no key in it is greater
  };

  // Reads all but the data blocks, and verifies what it reads.
  // Errors, here and below: of the file system, as they are, for they say nothing about the file;
  // DATA_LOSS naming the file and the offset, and that without what is damaged no entry can be
  // found.
  static absl::StatusOr<std::unique_ptr<TableFile>> Open(absl::string_view path);

  // Whether the last bytes of a file are a table's.
  static bool EndsAsOne(absl::string_view path);

  const std::string& path() const { return file_->path(); }
  // Bytes of the file, not verified.
  // Errors: DATA_LOSS if it has become shorter since it was opened.
  absl::Status ReadExactly(int64_t offset, size_t n, char* bytes) const;
  const std::vector<Block>& blocks() const { return blocks_; }

  // Hands out every entry, in the order of the keys; the first error of `fn` ends it.
  // Of blocks that are verified first, compressed ones too, with its value.
  //   Errors: DATA_LOSS as Corrupt has it.
  using OnValue = std::function<absl::Status(const std::string& key, absl::string_view value)>;
  absl::Status ReadEntries(const OnValue& fn) const;
  // Of blocks as they lie in the file, not verified, with the value's place in the file.
  //   Errors: the same; UNIMPLEMENTED if a block is compressed.
  struct ValuePlace {
    size_t block = 0;
    int64_t begin = 0, end = 0;
  };
  using OnPlace = std::function<absl::Status(const std::string& key, const ValuePlace& place)>;
  absl::Status WalkEntries(const OnPlace& fn) const;

  // Verifies a block without holding it.
  // Errors: DATA_LOSS as Corrupt has it.
  absl::Status VerifyBlock(size_t i) const;

  // DATA_LOSS: "<path>: not a whole checkpoint: the block of <n> bytes at offset <o>: <what>; it
  // holds <every entry, or from which to which>, those of <the variables whose entries can still be
  // read>".
  absl::Status Corrupt(size_t i, absl::string_view what) const;

 private:
  explicit TableFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
  absl::Status ReadFooter(Block* meta, Block* index) const;
  absl::Status ReadIndexBlock(const Block& index);
  absl::Status Verify(const Block& block) const;
  absl::StatusOr<std::string> Read(const Block& block) const;
  absl::StatusOr<BlockWalker> WalkBlock(const Block& block) const;
  // What all entries so far add up to.
  struct Walked {
    bool any = false;
    std::string last_key;
    int64_t key_bytes = 0;
  };
  absl::Status WalkOn(size_t i, absl::StatusOr<BlockWalker> walker, Walked* walked,
                      const std::function<absl::Status(const BlockWalker&)>& fn) const;
  ReadAt ReaderOf(const Block& block) const;
  std::string WhatIsIn(size_t i) const;

  const std::unique_ptr<RandomAccessFile> file_;
  std::vector<Block> blocks_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_TABLE_FILE_H_
