// The data files of a checkpoint, opened. Nothing in them is trusted: see bundle_reader.h.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_SHARDS_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_SHARDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/checkpoint/bundle_index.h"

namespace estimator {

// Thread-safe. `entry` is everywhere one that holds bytes: a tensor without slices, or a slice.
class BundleShards {
 public:
  // At most so many bytes are read at once: the crc of a piece is taken while it is in the cache.
  static constexpr size_t kPieceBytes = size_t{1} << 20;

  using Sink = std::function<absl::Status(absl::string_view piece)>;

  // Errors: DATA_LOSS if data files are not there, or end before an entry does: all of them, each
  // with the variables that are lost and the offset from which on.
  static absl::StatusOr<BundleShards> Open(absl::string_view prefix, const BundleIndex& index);

  // Hands the stored bytes of an entry, of any dtype, to `sink`, in order; their crc32c is verified
  // when the last are read. The first error of `sink` ends it.
  // Errors: DATA_LOSS naming the file, the variable and the offset.
  absl::Status Read(const BundleEntry& entry, const Sink& sink) const;
  // The same, straight into `bytes`, which holds entry.size of them.
  absl::Status ReadInto(const BundleEntry& entry, char* bytes) const;
  // n bytes from `begin` within the entry on, unverified. REQUIRES: they lie in it.
  absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n, char* bytes) const;

  // DATA_LOSS: "<data file>: <variable> (8 bytes at offset 0): <what>"
  absl::Status Corrupt(const BundleEntry& entry, absl::string_view what) const;
  // The data file of a shard.
  std::string Path(int shard) const;
  // Bytes of the data files together; those that are not used are not there.
  int64_t total_bytes() const;

 private:
  BundleShards(absl::string_view prefix, int num_shards)
      : prefix_(prefix), num_shards_(num_shards) {}
  // Of one data file: `first` is the entry with the lowest offset that is lost.
  struct Lost {
    std::set<std::string> variables;
    const BundleEntry* first = nullptr;
  };
  absl::Status OpenShard(const BundleEntry& entry, std::map<int, Lost>* lost);
  absl::Status LossError(const std::map<int, Lost>& lost) const;
  absl::Status ReadPieces(const BundleEntry& entry, char* whole, const Sink& sink) const;

  std::string prefix_;
  int num_shards_;
  std::map<int, std::unique_ptr<RandomAccessFile>>
      files_;  // those that hold something and are there
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_SHARDS_H_
