// Reads and writes TFRecord files. A file is a sequence of records:
//   length        u64, little-endian
//   length crc    u32, little-endian: masked crc32c of the 8 bytes of length
//   data          length bytes
//   data crc      u32, little-endian: masked crc32c of data
// A compressed file is one GZIP or ZLIB stream of such a sequence. On disk: do not change.
// Source: TF 2.15 tensorflow/core/lib/io/record_writer.h.
#ifndef ESTIMATOR_RECORDS_TFRECORD_H_
#define ESTIMATOR_RECORDS_TFRECORD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/file.h"
#include "estimator/base/string_arg.h"
#include "estimator/records/byte_stream.h"
#include "estimator/records/compression.h"

namespace estimator {

struct TFRecordOptions {
  Compression compression = Compression::kNone;
  int compression_level = -1;  // 0 to 9, -1 is 6; only writers use it
  // The number of bytes that a reader reads at once. A larger one saves calls of the system where
  // files are far away; a smaller one saves reads where Skip and Seek are frequent.
  int64_t buffer_size_bytes = ByteStream::kBufferBytes;
};

// The position of a reader between two records. Pass it to Seek to return to it.
struct TFRecordPosition {
  int64_t offset = 0;  // of the next record's length, in the (decompressed) bytes
  int64_t index = 0;   // of the next record
};

// The number of bytes of a record beside its data: the length and the two crcs.
inline constexpr int64_t kTFRecordOverheadBytes = 16;

// Checks the bytes of one record, from its length to the crc of its data, and returns its data.
// Errors: DATA_LOSS, without the name of a file.
absl::StatusOr<absl::string_view> ParseTFRecord(absl::string_view record);

// Not thread-safe.
class TFRecordReader {
 public:
  static absl::StatusOr<std::unique_ptr<TFRecordReader>> Open(StringArg path,
                                                              TFRecordOptions options = {});
  // The next record's data, or nullopt at the end. Every crc is checked.
  // Errors: DATA_LOSS naming the file, the record's index and its byte offset.
  absl::StatusOr<std::optional<std::string>> Next();
  // Skips a record without checking its data. Returns false at the end.
  absl::StatusOr<bool> Skip();

  // Moves to a position that position() returned for the same file.
  absl::Status Seek(TFRecordPosition position);
  const TFRecordPosition& position() const { return position_; }
  const std::string& path() const { return stream_->path(); }

 private:
  TFRecordReader(std::unique_ptr<ByteStream> stream, Compression compression)
      : stream_(std::move(stream)), compression_(compression) {}
  // The length of the next record, or -1 at the end.
  absl::StatusOr<int64_t> ReadLength();
  absl::Status Damaged(StringArg what) const;

  std::unique_ptr<ByteStream> stream_;
  Compression compression_;
  TFRecordPosition position_;
};

// Not thread-safe. If the file is compressed, all records are kept in memory until Close.
class TFRecordWriter {
 public:
  static absl::StatusOr<std::unique_ptr<TFRecordWriter>> Open(StringArg path,
                                                              TFRecordOptions options = {});
  absl::Status Write(StringArg record);
  // Writes everything so far to the system; other processes then see it.
  // Errors: FAILED_PRECONDITION if the file is compressed.
  absl::Status Flush();

  // Writes the rest and closes the file. Must be called once; without it the file is incomplete.
  absl::Status Close();

 private:
  TFRecordWriter(std::unique_ptr<WritableFile> file, TFRecordOptions options)
      : file_(std::move(file)), options_(options) {}
  std::unique_ptr<WritableFile> file_;
  TFRecordOptions options_;
  std::string pending_;  // all records of a compressed file, until Close
};

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_TFRECORD_H_
