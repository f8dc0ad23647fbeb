#include "estimator/data/sources/line_source.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/records/byte_stream.h"

namespace estimator {
namespace {

class Lines final : public RecordSource {
 public:
  Lines(std::unique_ptr<ByteStream> stream, bool quoted)
      : stream_(std::move(stream)), quoted_(quoted) {}

  absl::StatusOr<std::optional<std::string>> Next() override {
    std::string line;
    bool in_quotes = false;
    while (true) {
      const size_t end = std::min(buffer_.find('\n', begin_), buffer_.size());
      if (quoted_) {
        const auto begin = buffer_.begin();
        const auto num_quotes = std::count(begin + static_cast<std::ptrdiff_t>(begin_),
                                           begin + static_cast<std::ptrdiff_t>(end), '"');
        in_quotes = in_quotes != (num_quotes % 2 == 1);
      }
      line.append(buffer_, begin_, end - begin_);
      begin_ = end;
      if (end < buffer_.size()) {
        ++begin_;
        if (!in_quotes) {
          position_.offset += static_cast<int64_t>(line.size() + 1);
          break;
        }
        line.push_back('\n');
        continue;
      }
      EST_RETURN_IF_ERROR(Fill());
      if (!buffer_.empty()) continue;
      if (line.empty()) return std::nullopt;
      position_.offset += static_cast<int64_t>(line.size());  // the last line has no "\n"
      break;
    }
    ++position_.index;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
  }
  absl::StatusOr<bool> Skip() override {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> line, Next());
    return line.has_value();
  }
  RecordPosition position() const override { return position_; }
  absl::Status Seek(RecordPosition position) override {
    position_ = position;
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
  absl::Status Fill() {
    constexpr size_t kBytes = 64 << 10;
    begin_ = 0;
    buffer_.resize(kBytes);
    EST_ASSIGN_OR_RETURN(const size_t got, stream_->Read(kBytes, buffer_.data()));
    buffer_.resize(got);
    return absl::OkStatus();
  }
  std::unique_ptr<ByteStream> stream_;
  bool quoted_;
  std::string buffer_;
  size_t begin_ = 0;  // of the unused part of buffer_
  RecordPosition position_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordSource>> OpenLines(const std::string& path,
                                                        const LineSourceOptions& options) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream,
                       ByteStream::Open(path, options.compression, options.buffer_size_bytes));
  auto lines = std::make_unique<Lines>(std::move(stream), options.quoted);
  if (options.skip_header) EST_RETURN_IF_ERROR(lines->SkipHeader());
  return lines;
}

}  // namespace estimator
