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
#ifndef ESTIMATOR_CHECKPOINT_TABLE_FILE_H_
#define ESTIMATOR_CHECKPOINT_TABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/checkpoint/table_block.h"

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
  // Errors: of the file system; DATA_LOSS naming the file and the offset, and that without what is
  // damaged no entry can be found.
  static absl::StatusOr<std::unique_ptr<TableFile>> Open(absl::string_view path);

  // Whether the last bytes of a file are a table's.
  static bool EndsAsOne(absl::string_view path);

  const std::string& path() const { return file_->path(); }
  const RandomAccessFile& file() const { return *file_; }
  const std::vector<Block>& blocks() const { return blocks_; }

  // The contents of a block, verified and not compressed.
  // Errors: DATA_LOSS as Corrupt has it.
  absl::StatusOr<std::string> ReadBlock(size_t i) const;
  // Verifies a block without holding it.
  absl::Status VerifyBlock(size_t i) const;
  // Walks a block where it lies in the file; unverified. UNIMPLEMENTED if it is compressed.
  absl::StatusOr<BlockWalker> WalkBlock(size_t i) const;

  // DATA_LOSS: "<path>: the block of <n> bytes at offset <o>: <what>; lost are ...": the variables
  // whose entries lie in the block, as far as it can still be read, or else its first and last.
  absl::Status Corrupt(size_t i, absl::string_view what) const;

 private:
  explicit TableFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
  absl::Status ReadFooter(Block* meta, Block* index) const;
  absl::Status ReadIndexBlock(const Block& index);
  absl::Status Verify(const Block& block) const;
  absl::StatusOr<std::string> Read(const Block& block) const;
  ReadAt ReaderOf(const Block& block) const;
  std::string WhatIsIn(size_t i) const;

  const std::unique_ptr<RandomAccessFile> file_;
  std::vector<Block> blocks_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_FILE_H_
