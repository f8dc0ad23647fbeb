// Checks the stored bytes of a value as they are read, piece by piece, in constant memory.
//
// What the crc32c that the index holds is over depends on the dtype:
//   numbers    the stored bytes
//   strings    string_tensor.h says it
//   variants   stored one after another as: varint64 length, that many bytes (a serialized
//              VariantTensorDataProto), u32 masked crc32c of all up to here; the crc takes the
//              length as a u64, and takes the stored crcs in
// Source: TF 2.15 tensorflow/core/util/tensor_bundle (WriteTensor, WriteStringTensor,
// WriteVariantTensor).
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Not thread-safe.
class StoredCrc {
 public:
  //   dtype_on_disk: TensorFlow's number.
  StoredCrc(int dtype_on_disk, int64_t num_elements);

  // Errors: DATA_LOSS, with the byte of the value, as soon as something does not fit.
  absl::Status Append(absl::string_view piece);

  // After the last piece.
  //   expected: the crc32c in the index, not masked; nullopt where there is none.
  // Errors: DATA_LOSS if it is another one, or if elements are missing.
  absl::Status Finish(std::optional<uint32_t> expected) const;

  // Of what was appended, not masked; of the value when all is.
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
  int64_t lengths_left_;    // elements whose length is still to come
  int64_t position_ = 0;    // bytes taken
  uint64_t body_left_ = 0;  // of all strings, or of this variant
  uint64_t varint_ = 0;
  int varint_shift_ = 0;
  uint32_t stored_crc_ = 0;
  int crc_bytes_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_STORED_CRC_H_
