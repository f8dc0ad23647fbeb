// The values of a V1 checkpoint (v1_checkpoint.h), converted to the bytes that TensorBundle stores.
#ifndef ESTIMATOR_CHECKPOINT_V1_V1_VALUES_H_
#define ESTIMATOR_CHECKPOINT_V1_V1_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/bundle/value_source.h"
#include "estimator/checkpoint/table/table_file.h"
#include "estimator/checkpoint/v1/saved_slice.h"

namespace estimator {

// Does not keep values in memory. A block may have one large variable, and its checksum follows it.
// So each block is read once to verify it, before the first read of a value in it.
class V1Values : public ValueSource {
 public:
  // The place of an entry's values.
  struct Place {
    size_t block = 0;
    SavedEncoding encoding = {};
    SavedValues values = {};
    int64_t num_elements = 0;
  };

  //   files: one for each shard.
  explicit V1Values(std::vector<std::unique_ptr<TableFile>> files) : files_(std::move(files)) {}

  const TableFile& file(int shard) const { return *files_[static_cast<size_t>(shard)]; }
  // Adds an entry; its key is the shard and offset of its BundleEntry. Call this before the first
  // Read. Returns the number of bytes of the converted values.
  // Errors: DATA_LOSS if the number of values differs from place.num_elements, as far as that is
  // known without decoding numbers, or if the key was added before.
  absl::StatusOr<int64_t> Add(int shard, int64_t offset, const Place& place);

  absl::Status Read(const BundleEntry& entry, const Sink& sink) const override;
  absl::Status ReadInto(const BundleEntry& entry, char* bytes) const override;
  absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                         char* bytes) const override;
  std::string Path(int shard) const override;

 private:
  struct Stored {
    Place place;
    // The positions of every 65,536th varint, as far as they were decoded.
    std::vector<int64_t> marks;
    // The element after the last read, and its position: the next read often continues there.
    int64_t next_element = 0, next_position = 0;
  };

  absl::StatusOr<int64_t> SizeOf(int shard, const Place& place) const;
  absl::Status VerifyBlockOf(const BundleEntry& entry, const Place& place) const;
  absl::Status ReadPlace(const BundleEntry& entry, Stored& stored, const Sink& sink) const;
  absl::Status ReadBytes(int shard, int64_t begin, int64_t end, const Sink& sink) const;
  absl::Status ReadVarints(int shard, Stored& stored, int64_t first, int64_t count,
                           const Sink& sink) const;
  absl::Status ReadStrings(int shard, const Place& place, const Sink& sink) const;
  Stored& Find(const BundleEntry& entry) const;

  const std::vector<std::unique_ptr<TableFile>> files_;
  mutable std::map<std::pair<int, int64_t>, Stored> stored_;
  mutable std::mutex mutex_;  // guards blocks_, and all of Stored but the place
  // The results of verifying blocks, by shard and block number.
  mutable std::map<std::pair<int, size_t>, absl::Status> blocks_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_V1_VALUES_H_
