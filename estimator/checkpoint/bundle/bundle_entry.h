// The index of a checkpoint: its variables, and where their bytes are. It is the same for every
// format. A BundleIndex guarantees:
//   - Sizes and offsets are not negative, and their sums do not overflow.
//   - If the dtype has a fixed size, the number of bytes is that of the shape.
//   - All slices of a partitioned tensor exist, have its dtype, and lie inside of it. They do not
//     overlap, and together they cover the tensor.
//   - Shards are in [0, num_shards).
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

// DATA_LOSS: the index says something of `where` that cannot be.
absl::Status CorruptIndex(absl::string_view where, absl::string_view what);

// The place of the bytes of a tensor or of a slice.
struct BundleEntry {
  // One part of a partitioned tensor.
  struct Slice {
    std::vector<SliceExtent> extents;  // one for each axis
    std::string key;                   // the key of the slice's own entry
  };

  std::string variable;   // the tensor's name; for a slice, the tensor that lists it, or empty
  int dtype_on_disk = 0;  // TensorFlow's number, also for dtypes without a DType
  TensorSpec spec;        // its dtype is kInvalid for those
  int shard = 0;
  int64_t offset = 0;  // bytes
  int64_t size = 0;    // bytes
  // The checksum in the index (stored_crc.h says what it covers). Nullopt if the format has other
  // checksums; the ValueSource then verifies those.
  std::optional<uint32_t> masked_crc32c = std::nullopt;
  std::vector<Slice> slices;  // if empty, the bytes are at offset

  // masked_crc32c, unmasked.
  std::optional<uint32_t> crc32c() const;
  // The variable's name, or "a slice of no variable".
  std::string NameForMessages() const;
};

struct BundleIndex {
  int num_shards = 1;
  std::map<std::string, BundleEntry> tensors;  // by name
  std::map<std::string, BundleEntry> slices;   // by slice key
  // The graph of an object-based checkpoint (object_names.h), which is no variable.
  std::optional<BundleEntry> object_graph = std::nullopt;

  // The entries that hold the bytes of a tensor: its own entry, or those of its slices.
  std::vector<const BundleEntry*> PartsOf(const BundleEntry& tensor) const;
};

// "complex64", or "dtype 99".
std::string DTypeOnDiskName(int dtype_on_disk);
// Bytes of one element; 0 for strings, variants, and numbers that TensorFlow 2.15 does not have.
int DTypeOnDiskSize(int dtype_on_disk);

// The DType with that number; kInvalid if there is none.
DType DTypeFromDisk(int dtype_on_disk);

// The functions below are for the readers of the formats. Their error messages begin with `where`.

// Errors: DATA_LOSS for negative sizes, an unknown rank, or too many elements.
absl::StatusOr<Shape> ParseShape(absl::string_view where, const proto::TensorShapeProto& shape);
std::vector<SliceExtent> ParseExtents(const proto::TensorSliceProto& slice);
// The shape of a slice of `whole`; nullopt if it does not lie in it.
std::optional<Shape> SliceShape(const Shape& whole, const std::vector<SliceExtent>& extents);

// Checks that the slices of `entry` are in the index, lie in it, do not overlap, and cover it.
// Errors: DATA_LOSS.
absl::Status CheckSlices(absl::string_view where, const BundleIndex& index,
                         const BundleEntry& entry);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_BUNDLE_ENTRY_H_
