// Reads the entries of one block of a leveldb table.
//
//   block  =  entry*
//             u32 offset of each restart     a restart is an entry with shared == 0; the first is
//                                            at offset 0
//             u32 number of restarts
//   entry  =  varint shared                  bytes that the key has in common with the key before
//             varint fresh                   the other bytes of the key
//             varint value                   bytes of the value
//             fresh bytes of the key
//             bytes of the value
//
// Little-endian. Source: leveldb doc/table_format.md.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_
#define ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/table/file_window.h"

namespace estimator {

// The most bytes of all keys of a block, and of all keys of a file, including shared bytes. Without
// a limit, a small file of long keys that share nearly all bytes would need many times its size in
// memory. The keys of a checkpoint of 100,000 variables have 10 MB.
inline constexpr int64_t kMaxKeyBytes = int64_t{256} << 20;
inline constexpr char kTooManyKeyBytes[] = "the names in it would take more than 256 MiB";

// Walks the entries in order. It does not keep values in memory, because a block may be larger than
// memory. Nothing in the block is trusted. Not thread-safe.
class BlockWalker {
 public:
  //   read_at: reads the block's bytes [0, size).
  // Errors: DATA_LOSS if the end of the block is not valid; those of `read_at`.
  static absl::StatusOr<BlockWalker> Open(ReadAt read_at, int64_t size);
  // Opens a block whose end is damaged, and treats all its bytes as entries. For messages about
  // damage.
  static BlockWalker OpenDamaged(ReadAt read_at, int64_t size) {
    return BlockWalker(std::move(read_at), size, 0);
  }
  // Opens a block in memory, which must outlive the walker.
  static absl::StatusOr<BlockWalker> Open(absl::string_view block);

  // Moves to the next entry; the first call moves to the first one. Returns false after the last.
  // Each key is greater than the one before.
  // Errors: DATA_LOSS with the offset in the block. The entries after it cannot be read then.
  absl::StatusOr<bool> Next();
  const std::string& key() const { return key_; }
  // The place of the value in the block.
  int64_t value_offset() const { return value_offset_; }
  int64_t value_size() const { return value_size_; }

  // Call this after an error, to let Next continue at the next restart. Returns false if there is
  // none. For messages about damage: the bytes there may not be an entry. Each restart is tried
  // once, in the order of the array. A restart that is out of order may be skipped.
  bool SkipToRestart();

 private:
  BlockWalker(ReadAt read_at, int64_t end, int64_t num_restarts)
      : read_at_(read_at), window_(std::move(read_at)), end_(end), num_restarts_(num_restarts) {}

  ReadAt read_at_;
  FileWindow window_;
  int64_t end_;  // end of the entries
  int64_t num_restarts_;
  int64_t next_restart_ = 0;  // index of the next restart that SkipToRestart tries
  int64_t position_ = 0;      // offset of the next entry
  std::string key_;
  bool begins_anew_ = true;  // there is no key before the next one
  int64_t key_bytes_ = 0;    // bytes of all keys so far
  int64_t value_offset_ = 0;
  int64_t value_size_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_
