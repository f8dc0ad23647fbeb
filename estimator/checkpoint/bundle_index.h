// The index of a checkpoint, parsed and held against the rules of the format. For BundleReader.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_INDEX_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_INDEX_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle_format.h"

namespace estimator {

// Where the bytes of a tensor, or of a slice of one, are.
struct BundleEntry {
  // One part of a partitioned tensor.
  struct Slice {
    std::vector<SliceExtent> extents;  // one an axis
    std::string key;                   // of its own entry
  };

  std::string variable;   // of a slice: the tensor that lists it; empty if none does
  int dtype_on_disk = 0;  // TensorFlow's number, also of dtypes that spec.dtype cannot hold
  TensorSpec spec;        // dtype kInvalid for those
  int shard = 0;
  int64_t offset = 0;  // bytes
  int64_t size = 0;    // bytes
  uint32_t masked_crc32c = 0;
  std::vector<Slice> slices;  // empty: the bytes are at offset
};

struct BundleIndex {
  int num_shards = 1;
  std::map<std::string, BundleEntry> tensors;  // by name
  std::map<std::string, BundleEntry> slices;   // by slice key

  // The entries that hold the bytes of a tensor: itself, or those of its slices.
  std::vector<const BundleEntry*> PartsOf(const BundleEntry& tensor) const;
};

// Guarantees of the result: sizes and offsets are not negative and do not overflow; a tensor of a
// dtype of fixed size has as many bytes as its shape says; the slices of a partitioned tensor are
// there, have its dtype, lie inside of it, do not overlap, and cover it; shards are in [0,
// num_shards). Errors: NOT_FOUND, DATA_LOSS, UNIMPLEMENTED as in BundleReader::Open.
absl::StatusOr<BundleIndex> ReadBundleIndex(absl::string_view prefix);

// "complex64", or "dtype 99".
std::string DTypeOnDiskName(int dtype_on_disk);
// Bytes of one element; 0 of strings, of variants, and of numbers that TensorFlow 2.15 has not.
int DTypeOnDiskSize(int dtype_on_disk);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_INDEX_H_
