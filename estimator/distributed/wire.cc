#include "estimator/distributed/wire.h"

#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"

namespace estimator {

std::string EncodeFrame(FrameType type, const Fields& fields) {
  std::string body;
  for (const std::string& field : fields) {
    AppendLittleEndian(field.size(), 4, &body);
    body += field;
  }
  std::string frame;
  AppendLittleEndian(body.size(), 4, &frame);
  frame.push_back(static_cast<char>(type));
  return frame + body;
}

absl::StatusOr<std::optional<Frame>> FrameReader::Next() {
  constexpr size_t kHeader = 5;
  absl::string_view rest = absl::string_view(bytes_).substr(begin_);
  if (rest.size() < kHeader) return std::optional<Frame>();
  const uint64_t length = LoadLittleEndian(rest.substr(0, 4));
  const auto type = static_cast<uint8_t>(rest[4]);
  if (length > max_bytes_ || type > static_cast<uint8_t>(FrameType::kFailed)) {
    return DataLoss("the peer is not a process of this program");
  }
  if (rest.size() < kHeader + length) return std::optional<Frame>();
  Frame frame{static_cast<FrameType>(type)};
  rest = rest.substr(kHeader, length);
  while (!rest.empty()) {
    const uint64_t size = LoadLittleEndian(rest.substr(0, 4));
    if (rest.size() < 4 || rest.size() - 4 < size) return DataLoss("a field is not whole");
    frame.fields.emplace_back(rest.substr(4, size));
    rest.remove_prefix(4 + size);
  }
  begin_ += kHeader + length;
  // Most reads end with a whole frame, so moving the rest to the front is rare.
  if (begin_ == bytes_.size() || begin_ > (1 << 20)) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace estimator
