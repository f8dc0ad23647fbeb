// Divides a data set into parts by fractions: --split=train=0.8,validation=0.2.
#ifndef TOOLS_TO_TFRECORD_SPLITS_H_
#define TOOLS_TO_TFRECORD_SPLITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

// A part of the data set that gets its own files, such as "train".
struct Split {
  std::string name;
  std::vector<int64_t> samples;  // indices in SampleSet::samples, in the order of the records
  int64_t num_shards = 0;        // 0: as many as shard_bytes needs
  std::string origin = "";       // how it was made, which the manifest keeps
};

// Parses "train=0.8,validation=0.2" or "train", and divides the samples.
//   shuffle: permutes the samples first, by `seed`.
// Errors: INVALID_ARGUMENT for fractions that are not positive or whose sum is not 1, for a name
// that is empty, occurs twice or has a '/', and for a split without samples.
absl::StatusOr<std::vector<Split>> MakeSplits(const std::string& splits, int64_t num_samples,
                                              bool shuffle, uint64_t seed);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_SPLITS_H_
