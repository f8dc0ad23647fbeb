#include "estimator/checkpoint/table/snappy.h"

#include <cstddef>
#include <cstdint>

#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

// A copy of 64 bytes takes three: what claims to be longer than that is no snappy.
constexpr uint64_t kMaxExpansion = 32;

// `count` bytes, little-endian. False if they are not there.
bool ReadLittleEndian(absl::string_view bytes, size_t count, size_t* position, uint64_t* value) {
  if (bytes.size() - *position < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; ++i) {
    *value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[*position + i])) << (8 * i);
  }
  *position += count;
  return true;
}

}  // namespace

std::optional<std::string> SnappyUncompress(absl::string_view compressed) {
  size_t position = 0;
  uint64_t total = 0;
  if (!ReadVarint(compressed, &position, &total) || total > compressed.size() * kMaxExpansion) {
    return std::nullopt;
  }
  std::string out;
  out.reserve(total);
  while (position < compressed.size()) {
    const auto tag = static_cast<unsigned char>(compressed[position++]);
    const int kind = tag & 3;
    uint64_t length = tag >> 2;
    uint64_t offset = 0;
    if (kind == 0) {
      if (length >= 60 && !ReadLittleEndian(compressed, length - 59, &position, &length)) {
        return std::nullopt;
      }
      ++length;
      if (length > compressed.size() - position || length > total - out.size()) return std::nullopt;
      out.append(compressed.data() + position, length);
      position += length;
      continue;
    }
    const size_t offset_bytes = kind == 1 ? 1 : kind == 2 ? 2 : 4;
    if (!ReadLittleEndian(compressed, offset_bytes, &position, &offset)) return std::nullopt;
    if (kind == 1) {
      offset |= static_cast<uint64_t>(tag >> 5) << 8;
      length = 4 + ((tag >> 2) & 7);
    } else {
      ++length;
    }
    if (offset == 0 || offset > out.size() || length > total - out.size()) return std::nullopt;
    for (uint64_t i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);  // may overlap
  }
  if (out.size() != total) return std::nullopt;
  return out;
}

}  // namespace estimator
