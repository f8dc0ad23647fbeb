#include "estimator/checkpoint/bundle/stored_crc.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// TensorFlow's DataType. On disk: do not change.
constexpr int kVariantOnDisk = 21;
constexpr int kCrcBytes = 4;

}  // namespace

StoredCrc::StoredCrc(int dtype_on_disk, int64_t num_elements)
    : layout_(dtype_on_disk == kStringOnDisk    ? Layout::kStrings
              : dtype_on_disk == kVariantOnDisk ? Layout::kVariants
                                                : Layout::kNumbers),
      lengths_left_(num_elements) {
  phase_ = layout_ == Layout::kNumbers    ? Phase::kBody
           : layout_ == Layout::kVariants ? (num_elements == 0 ? Phase::kEnd : Phase::kLength)
           : num_elements == 0            ? Phase::kCrc
                                          : Phase::kLength;
  // Numbers have no lengths: every byte of the value is body.
  if (layout_ == Layout::kNumbers) body_left_ = std::numeric_limits<uint64_t>::max();
}

absl::Status StoredCrc::Corrupt(absl::string_view what) const {
  return DataLoss("byte ", position_, " of the value: ", what);
}

StoredCrc::Phase StoredCrc::AfterLength() const {
  if (layout_ == Layout::kStrings) return lengths_left_ > 0 ? Phase::kLength : Phase::kCrc;
  return body_left_ > 0 ? Phase::kBody : Phase::kCrc;
}

absl::Status StoredCrc::TakeLength(char byte) {
  const auto bits = static_cast<unsigned char>(byte);
  // The tenth byte of a varint has only the last of 64 bits.
  if (varint_shift_ > 63 || (varint_shift_ == 63 && bits > 1)) return Corrupt("not a length");
  varint_ |= static_cast<uint64_t>(bits & 0x7f) << varint_shift_;
  varint_shift_ += 7;
  if (bits >= 0x80) return absl::OkStatus();
  const bool wide = layout_ == Layout::kVariants || varint_ > std::numeric_limits<uint32_t>::max();
  // On a little-endian machine the first four bytes of the u64 are those of the u32.
  crc_ = ExtendCrc32c(crc_, &varint_, wide ? sizeof(uint64_t) : sizeof(uint32_t));
  if (__builtin_add_overflow(body_left_, varint_, &body_left_)) {
    return Corrupt("an impossible length");
  }
  varint_ = 0;
  varint_shift_ = 0;
  --lengths_left_;
  phase_ = AfterLength();
  return absl::OkStatus();
}

absl::Status StoredCrc::TakeCrc(char byte) {
  stored_crc_ |= static_cast<uint32_t>(static_cast<unsigned char>(byte)) << (8 * crc_bytes_);
  if (++crc_bytes_ < kCrcBytes) return absl::OkStatus();
  if (UnmaskCrc32c(stored_crc_) != crc_) {
    return Corrupt(layout_ == Layout::kStrings ? "the crc32c of the lengths is wrong"
                                               : "the crc32c of the variant is wrong");
  }
  // The checksum of the value in the index covers the bytes of this inner one.
  crc_ = ExtendCrc32c(crc_, &stored_crc_, sizeof(stored_crc_));
  stored_crc_ = 0;
  crc_bytes_ = 0;
  if (layout_ == Layout::kStrings) {
    phase_ = body_left_ > 0 ? Phase::kBody : Phase::kEnd;
  } else {
    phase_ = lengths_left_ > 0 ? Phase::kLength : Phase::kEnd;
  }
  return absl::OkStatus();
}

absl::Status StoredCrc::Append(absl::string_view piece) {
  while (!piece.empty()) {
    size_t taken = 1;
    switch (phase_) {
      case Phase::kLength:
        EST_RETURN_IF_ERROR(TakeLength(piece[0]));
        break;
      case Phase::kCrc:
        EST_RETURN_IF_ERROR(TakeCrc(piece[0]));
        break;
      case Phase::kBody:
        taken = static_cast<size_t>(std::min<uint64_t>(piece.size(), body_left_));
        crc_ = ExtendCrc32c(crc_, piece.data(), taken);
        if (layout_ == Layout::kNumbers) break;
        body_left_ -= taken;
        if (body_left_ == 0) phase_ = AfterBody();
        break;
      case Phase::kEnd:
        return Corrupt("bytes follow the last element");
    }
    position_ += static_cast<int64_t>(taken);
    piece.remove_prefix(taken);
  }
  return absl::OkStatus();
}

StoredCrc::Phase StoredCrc::AfterBody() const {
  return layout_ == Layout::kStrings ? Phase::kEnd : Phase::kCrc;
}

absl::Status StoredCrc::Finish(std::optional<uint32_t> expected) const {
  if (layout_ != Layout::kNumbers && phase_ != Phase::kEnd) {
    return Corrupt(lengths_left_ > 0 || phase_ == Phase::kLength ? "it ends in the lengths"
                                                                 : "its last element is cut off");
  }
  if (!expected || crc_ == *expected) return absl::OkStatus();
  return DataLoss("crc32c is ", absl::Hex(crc_, absl::kZeroPad8), ", but the index says ",
                  absl::Hex(*expected, absl::kZeroPad8));
}

}  // namespace estimator
