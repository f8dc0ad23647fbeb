// What a checkpoint holds and where: the same of every format. Guarantees of a BundleIndex: sizes
// and offsets are not negative and do not overflow; a tensor of a dtype of fixed size has as many
// bytes as its shape says; the slices of a partitioned tensor are there, have its dtype, lie inside
// of it, do not overlap, and cover it; shards are in [0, num_shards).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_ENTRY_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_ENTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {

namespace proto {
class TensorShapeProto;
class TensorSliceProto;
}  // namespace proto

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
  // As the index has it (stored_crc.h says of what). Nullopt: the file has checksums of another
  // kind, which its ValueSource verifies.
  std::optional<uint32_t> masked_crc32c = std::nullopt;
  std::vector<Slice> slices;  // empty: the bytes are at offset

  // The above, not masked.
  std::optional<uint32_t> crc32c() const;
  // The variable, or that it is a slice of none.
  std::string NameForMessages() const;
};

struct BundleIndex {
  int num_shards = 1;
  std::map<std::string, BundleEntry> tensors;  // by name
  std::map<std::string, BundleEntry> slices;   // by slice key

  // The entries that hold the bytes of a tensor: itself, or those of its slices.
  std::vector<const BundleEntry*> PartsOf(const BundleEntry& tensor) const;
};

// "complex64", or "dtype 99".
std::string DTypeOnDiskName(int dtype_on_disk);
// Bytes of one element; 0 of strings, of variants, and of numbers that TensorFlow 2.15 has not.
int DTypeOnDiskSize(int dtype_on_disk);

// The dtype of that number; kInvalid if there is no DType for it.
DType DTypeFromDisk(int dtype_on_disk);

// For the readers of the formats. `where` begins their messages.
// Errors: DATA_LOSS for dimensions that no tensor has.
absl::StatusOr<Shape> ParseShape(absl::string_view where, const proto::TensorShapeProto& shape);
std::vector<SliceExtent> ParseExtents(const proto::TensorSliceProto& slice);
// Whether the slices of `entry` are in the index, fit, and cover it.
absl::Status CheckSlices(absl::string_view where, const BundleIndex& index,
                         const BundleEntry& entry);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_ENTRY_H_
