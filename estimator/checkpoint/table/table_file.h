// Reads a leveldb table block by block.
//
//   file         =  data block*
//                   meta block               empty in TensorFlow's tables
//                   index block
//                   footer                   48 bytes
//   block        =  contents                 see table_block.h
//                   u8 type                  0 plain, 1 compressed with snappy
//                   u32 crc                  masked crc32c of the contents and the type
//   index block  =  one entry for each data block
//                     key                    not less than the keys in the block, and less than
//                                            those in the next block
//                     value                  handle of the block
//   footer       =  handle of the meta block, handle of the index block, zeros
//                   u64 magic number         the last 8 bytes
//   handle       =  varint offset, varint size
//
// leveldb's Table is not used, for two reasons. An error must name the entries that are lost, and
// the blocks of V1 checkpoints may be larger than memory.
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
    int64_t size = 0;      // stored bytes of its contents
    std::string last_key;  // not less than any key in the block
  };

  // Reads and verifies everything but the data blocks.
  // Errors: DATA_LOSS with the file and the offset; the message says that all entries are lost.
  // Here and below, errors of the file system are returned unchanged.
  static absl::StatusOr<std::unique_ptr<TableFile>> Open(absl::string_view path);

  // Whether the file ends with the magic number of a table.
  static bool EndsAsOne(absl::string_view path);

  const std::string& path() const { return file_->path(); }
  // Reads bytes of the file without verifying them.
  // Errors: DATA_LOSS if the file was truncated after it was opened.
  absl::Status ReadExactly(int64_t offset, size_t n, char* bytes) const;
  ReadAt Reader() const;  // calls ReadExactly
  const std::vector<Block>& blocks() const { return blocks_; }

  // The next two functions call `fn` for every entry, in the order of the keys. The first error of
  // `fn` ends them.

  // Verifies each block, decompresses it if needed, and passes the values.
  // Errors: DATA_LOSS as Corrupt.
  using OnValue = std::function<absl::Status(const std::string& key, absl::string_view value)>;
  absl::Status ReadEntries(const OnValue& fn) const;
  // Does not verify blocks, and passes the places of the values in the file.
  // Errors: DATA_LOSS as Corrupt; UNIMPLEMENTED if a block is compressed.
  struct ValuePlace {
    size_t block = 0;
    int64_t begin = 0, end = 0;
  };
  using OnPlace = std::function<absl::Status(const std::string& key, const ValuePlace& place)>;
  absl::Status WalkEntries(const OnPlace& fn) const;

  // Verifies a block without keeping it in memory.
  // Errors: DATA_LOSS as Corrupt.
  absl::Status VerifyBlock(size_t i) const;

  // A DATA_LOSS error for a block:
  //   <path>: not a whole checkpoint: the block of <n> bytes at offset <o>: <what>;
  //   it holds <every entry | the entries from A to B>, those of <the variables that can be read>
  absl::Status Corrupt(size_t i, absl::string_view what) const;

 private:
  explicit TableFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
  absl::Status ReadFooter(Block* meta, Block* index) const;
  absl::Status ReadIndexBlock(const Block& index);
  absl::Status Verify(const Block& block) const;
  absl::StatusOr<std::string> Read(const Block& block) const;
  absl::StatusOr<BlockWalker> WalkBlock(const Block& block) const;
  // The keys of all entries so far.
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
