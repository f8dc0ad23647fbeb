// The values of a V1 checkpoint (v1_checkpoint.h), as TensorBundle would store them.
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

// Holds no values: memory does not grow with their size. The checksum of a block is behind it, and
// a large variable fills one: a block is read once to verify it, before the first value in it is
// handed out.
class V1Values : public ValueSource {
 public:
  // Where an entry's values are.
  struct Place {
    size_t block = 0;
    SavedEncoding encoding = {};
    SavedValues values = {};
    int64_t num_elements = 0;
  };

  // One file a shard.
  explicit V1Values(std::vector<std::unique_ptr<TableFile>> files) : files_(std::move(files)) {}

  const TableFile& file(int shard) const { return *files_[static_cast<size_t>(shard)]; }
  // Before the first Read. The key is BundleEntry's shard and offset. Returns the bytes of the
  // values when they are handed out. Errors: DATA_LOSS if there are not place.num_elements of them,
  // as far as that shows itself without reading numbers, or if something is there already.
  absl::StatusOr<int64_t> Add(int shard, int64_t offset, const Place& place);

  absl::Status Read(const BundleEntry& entry, const Sink& sink) const override;
  absl::Status ReadInto(const BundleEntry& entry, char* bytes) const override;
  absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                         char* bytes) const override;
  std::string Path(int shard) const override;

 private:
  struct Stored {
    Place place;
    // Where each 64 Ki-th number of varints begins, as far as they were decoded.
    std::vector<int64_t> marks;
    // The number behind those that were read last, and where it begins: reads follow each other.
    int64_t next_element = 0, next_position = 0;
  };

  absl::StatusOr<int64_t> SizeOf(int shard, const Place& place) const;
  absl::Status VerifyBlockOf(const BundleEntry& entry, const Place& place) const;
  absl::Status ReadPlace(const BundleEntry& entry, Stored& stored, const Sink& sink) const;
  absl::Status ReadBytes(int shard, int64_t begin, int64_t end, const Sink& sink) const;
  absl::Status ReadVarints(int shard, Stored& stored, int64_t first, int64_t count,
                           const Sink& sink) const;
  absl::Status ReadStrings(int shard, const Place& place, const Sink& sink) const;
  ReadAt ReaderOf(int shard) const;
  Stored& Find(const BundleEntry& entry) const;

  const std::vector<std::unique_ptr<TableFile>> files_;
  mutable std::map<std::pair<int, int64_t>, Stored> stored_;
  mutable std::mutex mutex_;  // guards blocks_, and of Stored all but the place
  // What became of the blocks that were read, by shard and number.
  mutable std::map<std::pair<int, size_t>, absl::Status> blocks_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_V1_V1_VALUES_H_
