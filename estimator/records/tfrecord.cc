#include "estimator/records/tfrecord.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr size_t kLengthBytes = 8, kCrcBytes = 4;
constexpr size_t kHeaderBytes = kLengthBytes + kCrcBytes;
// A longer record is an error, even if the crc of its length matches. The limit is 1 TiB.
constexpr uint64_t kMaxLength = uint64_t{1} << 40;
constexpr size_t kReadAtOnce = size_t{16} << 20;

bool CrcMatches(absl::string_view data, const char* stored) {
  return UnmaskCrc32c(static_cast<uint32_t>(LoadLittleEndian({stored, kCrcBytes}))) == Crc32c(data);
}

absl::Status DataCrcError(size_t length) {
  return DataLoss("the crc32c of its ", length, " bytes does not match: the file is damaged");
}

}  // namespace

absl::StatusOr<absl::string_view> ParseTFRecord(absl::string_view record) {
  if (record.size() < kHeaderBytes + kCrcBytes) {
    return DataLoss("its ", record.size(), " bytes are not a record");
  }
  if (!CrcMatches(record.substr(0, kLengthBytes), record.data() + kLengthBytes)) {
    return DataLoss("the crc32c of its length does not match: the file is damaged");
  }
  const uint64_t length = LoadLittleEndian(record.substr(0, kLengthBytes));
  const absl::string_view rest = record.substr(kHeaderBytes);
  if (length != rest.size() - kCrcBytes) {
    return DataLoss("its length is ", length, " bytes, but it has ", rest.size() - kCrcBytes);
  }
  const absl::string_view data = rest.substr(0, rest.size() - kCrcBytes);
  if (!CrcMatches(data, rest.data() + data.size())) return DataCrcError(data.size());
  return data;
}

absl::StatusOr<std::unique_ptr<TFRecordReader>> TFRecordReader::Open(StringArg path,
                                                                     TFRecordOptions options) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                       ByteStream::Open(path, options.compression, options.buffer_size_bytes));
  return std::unique_ptr<TFRecordReader>(
      new TFRecordReader(std::move(stream), options.compression));
}

absl::Status TFRecordReader::Damaged(StringArg what) const {
  return DataLoss(path(), ": record ", position_.index, " at byte ", position_.offset, ": ", what);
}

absl::StatusOr<int64_t> TFRecordReader::ReadLength() {
  if (stream_->offset() != position_.offset) EST_RETURN_IF_ERROR(stream_->Seek(position_.offset));
  char header[kHeaderBytes];
  EST_ASSIGN_OR_RETURN(const size_t got, stream_->Read(kHeaderBytes, header));
  if (got == 0) return -1;
  if (got < kHeaderBytes) {
    return Damaged(absl::StrCat("truncated: the file ends after ", got, " of the ", kHeaderBytes,
                                " bytes of its header"));
  }
  const absl::string_view length_bytes(header, kLengthBytes);
  if (!CrcMatches(length_bytes, header + kLengthBytes)) {
    const bool gzip =
        position_.offset == 0 && compression_ == Compression::kNone && LooksLikeGzip(length_bytes);
    return Damaged(absl::StrCat(
        "the crc32c of its length does not match: ",
        gzip ? "this is a GZIP file; read it with .compression = Compression::kGzip"
        : position_.index == 0 ? "this is not a TFRecord file, or it is compressed, or damaged"
                               : "the file is damaged"));
  }
  const uint64_t length = LoadLittleEndian({header, kLengthBytes});
  if (length > kMaxLength) return Damaged(absl::StrCat("its length is ", length, " bytes"));
  return static_cast<int64_t>(length);
}

absl::StatusOr<std::optional<std::string>> TFRecordReader::Next() {
  EST_ASSIGN_OR_RETURN(const int64_t length, ReadLength());
  if (length < 0) return std::nullopt;
  const size_t want = static_cast<size_t>(length) + kCrcBytes;
  std::string data;
  while (data.size() < want) {  // in pieces, so that a wrong length does not allocate all memory
    const size_t piece = std::min(want - data.size(), kReadAtOnce);
    if (data.empty()) data.reserve(piece);
    EST_ASSIGN_OR_RETURN(const size_t got, stream_->Append(piece, &data));
    if (got < piece) {
      return Damaged(absl::StrCat("truncated: the file ends after ", data.size(), " of the ", want,
                                  " bytes of its data and crc"));
    }
  }
  const absl::string_view body(data.data(), static_cast<size_t>(length));
  if (!CrcMatches(body, data.data() + length)) {
    return Damaged(StringArg(DataCrcError(body.size()).message()));
  }
  data.resize(static_cast<size_t>(length));
  position_ = {.offset = stream_->offset(), .index = position_.index + 1};
  return data;
}

absl::StatusOr<bool> TFRecordReader::Skip() {
  EST_ASSIGN_OR_RETURN(const int64_t length, ReadLength());
  if (length < 0) return false;
  const int64_t end = position_.offset + static_cast<int64_t>(kHeaderBytes + kCrcBytes) + length;
  const absl::Status seek = stream_->Seek(end);
  if (!seek.ok()) return Damaged(absl::StrCat("truncated: ", seek.message()));
  position_ = {.offset = end, .index = position_.index + 1};
  return true;
}

absl::Status TFRecordReader::Seek(TFRecordPosition position) {
  EST_RETURN_IF_ERROR(stream_->Seek(position.offset));
  position_ = position;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TFRecordWriter>> TFRecordWriter::Open(StringArg path,
                                                                     TFRecordOptions options) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Open(path));
  return std::unique_ptr<TFRecordWriter>(new TFRecordWriter(std::move(file), options));
}

absl::Status TFRecordWriter::Write(StringArg record) {
  std::string header;
  AppendLittleEndian(record.size(), kLengthBytes, &header);
  AppendLittleEndian(MaskCrc32c(Crc32c(header)), kCrcBytes, &header);
  std::string footer;
  AppendLittleEndian(MaskCrc32c(Crc32c(record)), kCrcBytes, &footer);
  if (options_.compression != Compression::kNone) {
    absl::StrAppend(&pending_, header, record, footer);
    return absl::OkStatus();
  }
  EST_RETURN_IF_ERROR(file_->Append(header));
  EST_RETURN_IF_ERROR(file_->Append(record));
  return file_->Append(footer);
}

absl::Status TFRecordWriter::Flush() {
  if (options_.compression != Compression::kNone) {
    return FailedPrecondition(file_->path(),
                              ": a compressed file cannot be flushed; Close writes it");
  }
  return file_->Flush();
}

absl::Status TFRecordWriter::Close() {
  if (options_.compression != Compression::kNone) {
    EST_ASSIGN_OR_RETURN(const std::string bytes,
                         Compress(pending_, options_.compression, options_.compression_level));
    EST_RETURN_IF_ERROR(file_->Append(bytes));
  }
  return file_->Close();
}

}  // namespace estimator
