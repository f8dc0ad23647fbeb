#include "estimator/checkpoint/bundle/string_tensor.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/stored_crc.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

absl::Status CorruptAt(size_t offset, absl::string_view what) {
  return DataLoss("byte ", offset, " of the value: ", what);
}

}  // namespace

uint32_t ExtendCrc32cByLength(uint32_t crc, uint64_t length) {
  // As in TensorFlow, a length that fits into four bytes counts as four.
  if (length > std::numeric_limits<uint32_t>::max()) {
    return ExtendCrc32c(crc, &length, sizeof(length));
  }
  const auto small = static_cast<uint32_t>(length);
  return ExtendCrc32c(crc, &small, sizeof(small));
}

EncodedStrings EncodeStrings(absl::Span<const std::string> values) {
  EncodedStrings encoded;
  size_t total = 0;
  for (const std::string& value : values) {
    AppendVarint(value.size(), &encoded.bytes);
    encoded.crc32c = ExtendCrc32cByLength(encoded.crc32c, value.size());
    total += value.size();
  }
  const uint32_t masked = MaskCrc32c(encoded.crc32c);
  char stored[sizeof(masked)];
  std::memcpy(stored, &masked, sizeof(masked));
  encoded.crc32c = ExtendCrc32c(encoded.crc32c, stored, sizeof(stored));
  encoded.bytes.append(stored, sizeof(stored));
  encoded.bytes.reserve(encoded.bytes.size() + total);
  for (const std::string& value : values) encoded.bytes += value;
  const size_t text = encoded.bytes.size() - total;
  encoded.crc32c = ExtendCrc32c(encoded.crc32c, encoded.bytes.data() + text, total);
  return encoded;
}

absl::Status DecodeStrings(absl::string_view bytes, std::optional<uint32_t> crc32c,
                           absl::Span<std::string> values) {
  // An element takes at least one byte. Checking this first keeps a wrong shape from allocating.
  if (bytes.size() < values.size() + sizeof(uint32_t)) {
    return CorruptAt(0,
                     absl::StrCat(bytes.size(), " bytes cannot hold ", values.size(), " strings"));
  }
  // The checksums are verified before the lengths are used.
  StoredCrc crc(kStringOnDisk, static_cast<int64_t>(values.size()));
  EST_RETURN_IF_ERROR(crc.Append(bytes));
  EST_RETURN_IF_ERROR(crc.Finish(crc32c));
  std::vector<uint64_t> lengths(values.size());
  size_t position = 0;
  for (uint64_t& length : lengths) {
    const size_t begin = position;
    if (!ReadVarint(bytes, &position, &length)) return CorruptAt(begin, "not a length");
  }
  position += sizeof(uint32_t);  // the crc of the lengths
  for (size_t i = 0; i < values.size(); ++i) {
    if (lengths[i] > bytes.size() - position) {
      return CorruptAt(position,
                       absl::StrCat("string ", i, " of ", lengths[i], " bytes is cut off"));
    }
    values[i].assign(bytes.data() + position, lengths[i]);
    position += lengths[i];
  }
  if (position != bytes.size()) {
    return CorruptAt(position,
                     absl::StrCat(bytes.size() - position, " bytes follow the last string"));
  }
  return absl::OkStatus();
}

}  // namespace estimator
