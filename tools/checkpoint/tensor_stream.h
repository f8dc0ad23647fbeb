// The bytes of one variable of a checkpoint in row-major order, piece by piece, whatever the slices
// in which it is stored.
#ifndef TOOLS_CHECKPOINT_TENSOR_STREAM_H_
#define TOOLS_CHECKPOINT_TENSOR_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle/part_rows.h"
#include "estimator/checkpoint/bundle/stored_crc.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Numbers only: strings and variants have no place of their own in the bytes. Not thread-safe.
class TensorStream {
 public:
  // `reader` outlives it. The slices of a partitioned variable are read once more, to verify them
  // before.
  static absl::StatusOr<TensorStream> Open(const BundleReader& reader, absl::string_view name);

  // The next n bytes. REQUIRES: they are there. A whole variable's crc32c is verified with its last
  // byte. Errors: DATA_LOSS naming the file, the variable and the offset.
  absl::Status Read(size_t n, char* out);

  int64_t size() const { return size_; }  // bytes
  int64_t position() const { return position_; }

 private:
  TensorStream(const BundleReader& reader, const BundleEntry& entry);
  absl::Status Gather(size_t n, char* out);

  const BundleReader* reader_;
  const BundleEntry* entry_;
  int64_t element_bytes_;
  int64_t size_;
  int64_t position_ = 0;
  StoredCrc crc_;
  std::vector<PartRows> rows_;  // of each slice
};

// Whether an entry is of strings that may be read whole: in memory a string is larger than where it
// is stored.
bool StringsFitInMemory(const BundleReader& reader, const BundleEntry& entry);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_TENSOR_STREAM_H_
