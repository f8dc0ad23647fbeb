// Verifies the stored bytes of a value piece by piece, in constant memory.
//
// The index has one crc32c for each value. What it covers depends on the dtype:
//   numbers    the stored bytes.
//   strings    see string_tensor.h.
//   variants   all fields of all elements, with each length taken as a u64. An element is stored
//              as:
//                varint64  length
//                bytes     a serialized VariantTensorDataProto of that length
//                u32       masked crc32c of everything in the value up to here
// Source: TF 2.15 tensorflow/core/util/tensor_bundle (WriteTensor, WriteStringTensor,
// WriteVariantTensor).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// TensorFlow's DataType of strings. On disk: do not change.
inline constexpr int kStringOnDisk = 7;

// Not thread-safe.
class StoredCrc {
 public:
  //   dtype_on_disk: TensorFlow's number of the dtype.
  StoredCrc(int dtype_on_disk, int64_t num_elements);

  // Takes the next bytes of the value.
  // Errors: DATA_LOSS, with the offset in the value, at the first byte that cannot be right.
  absl::Status Append(absl::string_view piece);

  // Call this after the last piece.
  //   expected: the crc32c in the index, not masked; nullopt if there is none.
  // Errors: DATA_LOSS if the crc32c differs or if elements are missing.
  absl::Status Finish(std::optional<uint32_t> expected) const;

  // The crc32c of everything appended so far, not masked.
  uint32_t crc32c() const { return crc_; }

 private:
  enum class Layout { kNumbers, kStrings, kVariants };
  enum class Phase { kLength, kCrc, kBody, kEnd };

  absl::Status TakeLength(char byte);
  absl::Status TakeCrc(char byte);
  Phase AfterLength() const;
  Phase AfterBody() const;
  absl::Status Corrupt(absl::string_view what) const;

  const Layout layout_;
  Phase phase_;
  int64_t lengths_left_;    // elements whose length was not read yet
  int64_t position_ = 0;    // bytes read
  uint64_t body_left_ = 0;  // bytes left of all strings, or of the current variant
  uint64_t varint_ = 0;
  int varint_shift_ = 0;
  uint32_t stored_crc_ = 0;
  int crc_bytes_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_
