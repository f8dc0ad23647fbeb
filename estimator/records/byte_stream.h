// The bytes of a file from its beginning on, decompressed if asked, through a buffer.
#ifndef ESTIMATOR_RECORDS_BYTE_STREAM_H_
#define ESTIMATOR_RECORDS_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/records/compression.h"

namespace estimator {

// Not thread-safe.
class ByteStream {
 public:
  static constexpr int64_t kBufferBytes = 256 << 10;

  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(absl::string_view path,
                                                          Compression compression);
  virtual ~ByteStream() = default;

  // Reads n bytes; returns how many: fewer only at the end.
  // Errors: those of the file; DATA_LOSS for corrupt compressed data.
  virtual absl::StatusOr<size_t> Read(size_t n, char* out) = 0;
  // Goes to an offset in the (decompressed) bytes. A compressed stream reads its way there, from
  // the beginning if that is behind. Beyond the end: OUT_OF_RANGE.
  virtual absl::Status Seek(int64_t offset) = 0;

  // In the (decompressed) bytes.
  int64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 protected:
  explicit ByteStream(absl::string_view path) : path_(path) {}
  std::string path_;
  int64_t offset_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_BYTE_STREAM_H_
