#include "estimator/data/sources/line_source.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/records/byte_stream.h"

namespace estimator {
namespace {

// A line that is longer is hardly meant. Parsing has up to five copies of a line in memory.
constexpr size_t kMaxLineBytes = size_t{64} << 20;

class Lines final : public RecordSource {
 public:
  Lines(std::unique_ptr<ByteStream> stream, const std::optional<CsvFormat>& csv)
      : stream_(std::move(stream)), csv_(csv), csv_end_(csv.value_or(CsvFormat())) {}

  absl::StatusOr<std::optional<std::string>> Next() override {
    // The line of the last error is left behind, as any other damaged record is.
    if (too_long_) EST_RETURN_IF_ERROR(Skip().status());
    std::string line;
    EST_ASSIGN_OR_RETURN(const bool found, Take(&line));
    if (!found) return std::nullopt;
    if (!csv_ && !line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  absl::StatusOr<bool> Skip() override { return Take(nullptr); }
  RecordPosition position() const override { return position_; }
  absl::Status Seek(RecordPosition position) override {
    StartLine(position);
    buffer_.clear();
    begin_ = 0;
    return stream_->Seek(position.offset);
  }
  absl::Status SkipHeader() {
    EST_RETURN_IF_ERROR(Skip().status());
    position_.index = 0;
    return absl::OkStatus();
  }

 private:
  // Moves behind a line, or behind the rest of one that is too long. False at the end of the file.
  //   line: what the line is appended to; null if it is skipped.
  absl::StatusOr<bool> Take(std::string* line) {
    while (true) {
      EST_ASSIGN_OR_RETURN(const bool more, HasBytes());
      if (!more && line_bytes_ == 0) return false;
      if (!more) break;  // the last line may end with the file
      if (csv_ && position_.offset == 0 && line_bytes_ == 0) {
        absl::string_view text = buffer_;
        begin_ = ConsumeByteOrderMark(&text);
        position_.offset = static_cast<int64_t>(begin_);
        if (begin_ == buffer_.size()) continue;
      }
      const absl::string_view rest = absl::string_view(buffer_).substr(begin_);
      const size_t size = csv_ ? csv_end_.Find(rest) : std::min(rest.find('\n'), rest.size());
      begin_ += size;
      line_bytes_ += size;
      if (line != nullptr) {
        if (line_bytes_ > kMaxLineBytes) return TooLong();
        line->append(rest.data(), size);
      }
      if (size < rest.size()) {
        EST_RETURN_IF_ERROR(TakeEndOfLine());
        break;
      }
    }
    StartLine({.offset = position_.offset + static_cast<int64_t>(line_bytes_),
               .index = position_.index + 1});
    return true;
  }
  absl::Status TakeEndOfLine() {
    const bool return_first = buffer_[begin_] == '\r';
    ++begin_;
    ++line_bytes_;
    if (!return_first) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const bool more, HasBytes());
    if (!more || buffer_[begin_] != '\n') return absl::OkStatus();
    ++begin_;
    ++line_bytes_;
    return absl::OkStatus();
  }
  absl::Status TooLong() {
    too_long_ = true;
    return DataLoss(stream_->path(), ": line ", position_.index, " at byte ", position_.offset,
                    " has more than ", HumanBytes(kMaxLineBytes),
                    csv_ && csv_->quotes
                        ? "; a quote (\") at the beginning of a field that is never closed joins "
                          "all lines behind it"
                        : "; store such large values in a TFRecord file");
  }
  void StartLine(RecordPosition position) {
    position_ = position;
    line_bytes_ = 0;
    too_long_ = false;
    csv_end_.Reset();
  }
  // Whether the buffer has bytes from begin_ on, after it was filled if it was empty.
  absl::StatusOr<bool> HasBytes() {
    if (begin_ < buffer_.size()) return true;
    constexpr size_t kBytes = 64 << 10;
    begin_ = 0;
    buffer_.resize(kBytes);
    EST_ASSIGN_OR_RETURN(const size_t got, stream_->Read(kBytes, buffer_.data()));
    buffer_.resize(got);
    return got > 0;
  }
  std::unique_ptr<ByteStream> stream_;
  std::optional<CsvFormat> csv_;
  CsvRecordEnd csv_end_;
  std::string buffer_;
  size_t begin_ = 0;         // of the unused part of buffer_
  RecordPosition position_;  // of the line
  size_t line_bytes_ = 0;    // of the line up to begin_
  bool too_long_ = false;    // whether the line was refused, so that its rest has to be skipped
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordSource>> OpenLines(const std::string& path,
                                                        const LineSourceOptions& options) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                       ByteStream::Open(path, options.compression, options.buffer_size_bytes));
  auto lines = std::make_unique<Lines>(std::move(stream), options.csv);
  if (options.skip_header) EST_RETURN_IF_ERROR(lines->SkipHeader());
  return lines;
}

}  // namespace estimator
