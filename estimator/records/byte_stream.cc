#include "estimator/records/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

class PlainStream final : public ByteStream {
 public:
  PlainStream(std::unique_ptr<RandomAccessFile> file, int64_t buffer_bytes)
      : ByteStream(file->path()),
        file_(std::move(file)),
        buffer_bytes_(static_cast<size_t>(buffer_bytes)) {}

  absl::StatusOr<size_t> Read(size_t n, char* out) override {
    const auto take = [&out](absl::string_view buffered) {
      std::memcpy(out, buffered.data(), buffered.size());
      out += buffered.size();
    };
    const auto read_rest = [this, &out](size_t rest) -> absl::StatusOr<size_t> {
      EST_ASSIGN_OR_RETURN(const size_t some, file_->Read(offset_, rest, out));
      offset_ += static_cast<int64_t>(some);
      return some;
    };
    return ReadThroughBuffer(n, take, read_rest);
  }
  absl::StatusOr<size_t> Append(size_t n, std::string* out) override {
    const auto take = [out](absl::string_view buffered) {
      out->append(buffered.data(), buffered.size());
    };
    const auto read_rest = [this, out](size_t rest) { return ByteStream::Append(rest, out); };
    return ReadThroughBuffer(n, take, read_rest);
  }
  absl::Status Seek(int64_t offset) override {
    if (offset < 0 || offset > file_->size()) {
      return OutOfRange(path_, ": offset ", offset, " is past its ", file_->size(), " bytes");
    }
    offset_ = offset;
    return absl::OkStatus();
  }

 private:
  // Calls take(bytes) for the pieces of the next n bytes. A large read bypasses the buffer:
  // read_rest(the number of bytes that are left) reads them, and returns the number read.
  template <typename Take, typename ReadRest>
  absl::StatusOr<size_t> ReadThroughBuffer(size_t n, const Take& take, const ReadRest& read_rest) {
    size_t done = 0;
    while (done < n) {
      const absl::string_view buffered = TakeBuffered(n - done);
      if (!buffered.empty()) {
        take(buffered);
        done += buffered.size();
        continue;
      }
      if (n - done >= buffer_bytes_) {
        EST_ASSIGN_OR_RETURN(const size_t some, read_rest(n - done));
        return done + some;
      }
      EST_ASSIGN_OR_RETURN(const bool more, FillBuffer());
      if (!more) break;
    }
    return done;
  }
  // Up to n bytes of the buffer from offset_, which moves behind them. Empty if there are none.
  absl::string_view TakeBuffered(size_t n) {
    const int64_t end = buffer_begin_ + static_cast<int64_t>(buffer_.size());
    if (offset_ < buffer_begin_ || offset_ >= end) return absl::string_view();
    const auto bytes =
        absl::string_view(buffer_).substr(static_cast<size_t>(offset_ - buffer_begin_), n);
    offset_ += static_cast<int64_t>(bytes.size());
    return bytes;
  }
  // Reads the bytes from offset_ into the buffer. False at the end of the file.
  absl::StatusOr<bool> FillBuffer() {
    buffer_.resize(buffer_bytes_);
    EST_ASSIGN_OR_RETURN(const size_t some, file_->Read(offset_, buffer_.size(), buffer_.data()));
    buffer_.resize(some);
    buffer_begin_ = offset_;
    return some > 0;
  }

  std::unique_ptr<RandomAccessFile> file_;
  size_t buffer_bytes_;
  std::string buffer_;
  int64_t buffer_begin_ = 0;
};

class InflatedStream final : public ByteStream {
 public:
  InflatedStream(std::unique_ptr<PlainStream> file, Compression compression)
      : ByteStream(file->path()), file_(std::move(file)), compression_(compression) {}
  ~InflatedStream() override { inflateEnd(&stream_); }

  absl::Status Init() {
    stream_ = {};
    if (inflateInit2(&stream_, ZlibWindowBits(compression_)) != Z_OK) {
      return ResourceExhausted("zlib has no memory to decompress");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(size_t n, char* out) override {
    size_t done = 0;
    while (done < n) {
      if (stream_.avail_in == 0) EST_RETURN_IF_ERROR(Fill());
      if (stream_.avail_in == 0) {
        if (between_members_) break;
        return Corrupt("the file ends within the compressed stream");
      }
      // A GZIP file may consist of several members, one after another.
      if (between_members_) inflateReset(&stream_);
      between_members_ = false;
      const auto room = static_cast<uInt>(std::min<size_t>(n - done, size_t{1} << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(out + done);
      stream_.avail_out = room;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      offset_ += room - stream_.avail_out;
      if (result == Z_STREAM_END) {
        between_members_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Corrupt(stream_.msg != nullptr ? stream_.msg : "zlib reports no reason");
      }
    }
    return done;
  }
  absl::Status Seek(int64_t offset) override {
    if (offset < 0) {
      return OutOfRange(path_, ": offset ", offset, " is negative");
    }
    // inflate cannot go back, so a lower offset starts again from the beginning of the file.
    if (offset < offset_) {
      EST_RETURN_IF_ERROR(file_->Seek(0));
      inflateReset(&stream_);
      stream_.avail_in = 0;
      offset_ = 0;
      between_members_ = true;
    }
    std::string skipped(static_cast<size_t>(std::min(offset - offset_, kBufferBytes)), '\0');
    while (offset_ < offset) {
      const size_t want = std::min(skipped.size(), static_cast<size_t>(offset - offset_));
      EST_ASSIGN_OR_RETURN(const size_t got, Read(want, skipped.data()));
      if (got < want) {
        return OutOfRange(path_, ": offset ", offset, " is past its ", offset_,
                          " decompressed bytes");
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Fill() {
    input_.resize(static_cast<size_t>(kBufferBytes));
    EST_ASSIGN_OR_RETURN(const size_t got, file_->Read(input_.size(), input_.data()));
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return absl::OkStatus();
  }
  absl::Status Corrupt(absl::string_view why) const {
    return DataLoss(path_, ": ", CompressionName(compression_), " data is corrupt before byte ",
                    file_->offset(), " (", offset_, " decompressed): ", why);
  }

  std::unique_ptr<PlainStream> file_;
  Compression compression_;
  z_stream stream_ = {};
  std::string input_;
  bool between_members_ = true;  // at the beginning of the file, or after a whole GZIP member
};

}  // namespace

absl::StatusOr<size_t> ByteStream::Append(size_t n, std::string* out) {
  const size_t size = out->size();
  out->resize(size + n);
  absl::StatusOr<size_t> some = Read(n, out->data() + size);
  out->resize(size + some.value_or(0));
  return some;
}

absl::StatusOr<std::unique_ptr<ByteStream>> ByteStream::Open(absl::string_view path,
                                                             Compression compression,
                                                             int64_t buffer_bytes) {
  if (buffer_bytes < 1) {
    return InvalidArgument(path, ": the buffer size is ", buffer_bytes,
                           " bytes; it must be at least 1");
  }
  EST_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file, RandomAccessFile::Open(path));
  auto plain = std::make_unique<PlainStream>(std::move(file), buffer_bytes);
  if (compression == Compression::kNone) return plain;
  auto inflated = std::make_unique<InflatedStream>(std::move(plain), compression);
  EST_RETURN_IF_ERROR(inflated->Init());
  return inflated;
}

}  // namespace estimator
