// Reads the bytes of a file in order, through a buffer, and decompresses them if asked.
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

  //   buffer_bytes: the number of bytes that are read from the file at once.
  // Errors: those of opening the file; INVALID_ARGUMENT if buffer_bytes is not positive.
  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(absl::string_view path,
                                                          Compression compression,
                                                          int64_t buffer_bytes = kBufferBytes);
  virtual ~ByteStream() = default;

  // Reads up to n bytes into `out` and returns the number read. It is less than n only at the end.
  // Errors: those of the file; DATA_LOSS for corrupt compressed data.
  virtual absl::StatusOr<size_t> Read(size_t n, char* out) = 0;
  // As Read, at the end of `out`. Pieces smaller than the buffer of a file that is not compressed
  // are written once, without zeros before.
  virtual absl::StatusOr<size_t> Append(size_t n, std::string* out);
  // Moves to an offset in the (decompressed) bytes. A compressed stream decompresses everything up
  // to there; it starts from the beginning if the offset is before the current one.
  // Errors: OUT_OF_RANGE if the offset is past the end.
  virtual absl::Status Seek(int64_t offset) = 0;

  // The current offset in the (decompressed) bytes.
  int64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 protected:
  explicit ByteStream(absl::string_view path) : path_(path) {}
  std::string path_;
  int64_t offset_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_BYTE_STREAM_H_
