// The entries of one block of a leveldb table.
//
//   entry: varint shared, varint fresh, varint value, the fresh bytes of the key, those of the
//          value; a key begins with the first `shared` bytes of the key before
//   block: entries, the offset of each restart (an entry that shares nothing; the first is at 0) as
//          a u32, their number as a u32
// Little-endian. Source: leveldb doc/table_format.md.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_
#define ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/table/file_window.h"

namespace estimator {

// Of the keys of a block, and of those of a file, with what they share: a small file of long keys
// that share nearly all would need many times its size. A checkpoint of 100,000 variables has 10
// MB.
inline constexpr int64_t kMaxKeyBytes = int64_t{256} << 20;
inline constexpr char kTooManyKeyBytes[] = "the names in it would take more than 256 MiB";

// Walks the entries in order, without holding the values: a block may be larger than memory.
// Nothing in it is trusted. Not thread-safe.
class BlockWalker {
 public:
  //   read_at: of the block's bytes [0, size).
  // Errors: DATA_LOSS if a block cannot end so; those of `read_at`.
  static absl::StatusOr<BlockWalker> Open(ReadAt read_at, int64_t size);
  // Of a block whose end is damaged: takes all of it for entries. For messages about damage.
  static BlockWalker OpenDamaged(ReadAt read_at, int64_t size) {
    return BlockWalker(std::move(read_at), size, 0);
  }
  // Of a block in memory, which outlives it.
  static absl::StatusOr<BlockWalker> Open(absl::string_view block);

  // Goes to the next entry, the first at first; false after the last. Keys grow.
  // Errors: DATA_LOSS with the offset in the block; nothing is known of the entries behind it.
  absl::StatusOr<bool> Next();
  const std::string& key() const { return key_; }
  // In the block.
  int64_t value_offset() const { return value_offset_; }
  int64_t value_size() const { return value_size_; }

  // After an error: Next goes on at the next restart. False if there is none. For messages about
  // damage: what stands there may be anything. Each restart is looked at once, in the order of the
  // array: one that stands out of order may be passed over.
  bool SkipToRestart();

 private:
  BlockWalker(ReadAt read_at, int64_t end, int64_t num_restarts)
      : read_at_(read_at), window_(std::move(read_at)), end_(end), num_restarts_(num_restarts) {}

  ReadAt read_at_;
  FileWindow window_;
  int64_t end_;  // of the entries
  int64_t num_restarts_;
  int64_t next_restart_ = 0;  // those before it lie behind us
  int64_t position_ = 0;      // of the next entry
  std::string key_;
  bool begins_anew_ = true;  // no key before
  int64_t key_bytes_ = 0;    // of all so far
  int64_t value_offset_ = 0;
  int64_t value_size_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_TABLE_BLOCK_H_
