// TensorStream: reads the bytes of one variable of a checkpoint in row-major order, piece by piece.
// The variable may be stored in slices.
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

// Only for numbers, because elements of strings and variants have no fixed size. Not thread-safe.
class TensorStream {
 public:
  // Opens a variable. The slices of a partitioned variable are read once here, to verify them.
  // REQUIRES: `reader` outlives the stream.
  // Errors: NOT_FOUND if there is no such variable; UNIMPLEMENTED if it has no numbers; DATA_LOSS.
  static absl::StatusOr<TensorStream> Open(const BundleReader& reader, absl::string_view name);

  // Reads the next n bytes into `out`. The crc32c of a variable that is not partitioned is verified
  // when its last byte is read.
  // REQUIRES: position() + n <= size().
  // Errors: DATA_LOSS naming the file, the variable and the offset.
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

// Whether the entry has strings that fit into memory. A string needs more bytes in memory than in
// the file.
bool StringsFitInMemory(const BundleReader& reader, const BundleEntry& entry);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_TENSOR_STREAM_H_
