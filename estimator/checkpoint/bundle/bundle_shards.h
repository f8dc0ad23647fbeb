// The open data files of a checkpoint. Nothing in them is trusted: see bundle_reader.h.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_SHARDS_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_SHARDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/value_source.h"

namespace estimator {

class BundleShards : public ValueSource {
 public:
  // Opens the data files that the index uses.
  // Errors: DATA_LOSS if data files are missing, or end before an entry does. The message lists all
  // of them, each with the lost variables and the offset where the loss begins.
  static absl::StatusOr<std::unique_ptr<BundleShards>> Open(absl::string_view prefix,
                                                            const BundleIndex& index);

  absl::Status Read(const BundleEntry& entry, const Sink& sink) const override;
  absl::Status ReadInto(const BundleEntry& entry, char* bytes) const override;
  absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                         char* bytes) const override;
  std::string Path(int shard) const override;

 private:
  BundleShards(absl::string_view prefix, int num_shards)
      : prefix_(prefix), num_shards_(num_shards) {}
  // The loss in one data file. `first` is the lost entry with the lowest offset.
  struct Lost {
    std::set<std::string> variables;
    const BundleEntry* first = nullptr;
  };
  absl::Status OpenShard(const BundleEntry& entry, std::map<int, Lost>* lost);
  absl::Status LossError(const std::map<int, Lost>& lost) const;
  absl::Status CheckSizes(const BundleIndex& index) const;
  absl::Status ReadPieces(const BundleEntry& entry, char* whole, const Sink& sink) const;

  const std::string prefix_;
  const int num_shards_;
  // By shard; null for a missing file. Shards without an entry are not opened.
  std::map<int, std::unique_ptr<RandomAccessFile>> files_;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_SHARDS_H_
