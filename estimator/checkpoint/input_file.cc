#include "estimator/checkpoint/input_file.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {
namespace {

constexpr absl::string_view kGraphMagic = "META", kEpochsMagic = "EPOC";
constexpr size_t kSizeBytes = 8, kCrcBytes = 4;
constexpr size_t kSealedBytes = kGraphMagic.size() + kSizeBytes + kCrcBytes;
constexpr size_t kTrailerBytes = kSealedBytes + kCrcBytes;

// The bytes of `magic`, size, crc and seal.
std::string Trailer(absl::string_view magic, const FileChecksum& checksum) {
  std::string trailer(magic);
  AppendLittleEndian(checksum.num_bytes, kSizeBytes, &trailer);
  AppendLittleEndian(MaskCrc32c(checksum.crc32c), kCrcBytes, &trailer);
  AppendLittleEndian(MaskCrc32c(Crc32c(trailer)), kCrcBytes, &trailer);
  return trailer;
}

// Takes a trailer from the end of `bytes`, if there is one. The seal tells a trailer from a state
// that ends like one.
std::optional<FileChecksum> TakeTrailer(absl::string_view magic, std::string& bytes) {
  if (bytes.size() < kTrailerBytes) return std::nullopt;
  const absl::string_view trailer = absl::string_view(bytes).substr(bytes.size() - kTrailerBytes);
  const absl::string_view sealed = trailer.substr(0, kSealedBytes);
  const auto seal = static_cast<uint32_t>(LoadLittleEndian(trailer.substr(kSealedBytes)));
  if (sealed.substr(0, magic.size()) != magic || UnmaskCrc32c(seal) != Crc32c(sealed))
    return std::nullopt;
  const auto crc =
      static_cast<uint32_t>(LoadLittleEndian(sealed.substr(magic.size() + kSizeBytes)));
  const FileChecksum checksum = {
      .num_bytes = LoadLittleEndian(sealed.substr(magic.size(), kSizeBytes)),
      .crc32c = UnmaskCrc32c(crc)};
  bytes.resize(bytes.size() - kTrailerBytes);
  return checksum;
}

}  // namespace

FileChecksum FileChecksum::Of(absl::string_view contents) {
  return {.num_bytes = contents.size(), .crc32c = Crc32c(contents)};
}

std::string EncodeInputFile(const InputFile& file) {
  std::string bytes = file.state;
  if (!file.epochs.empty())
    absl::StrAppend(&bytes, file.epochs, Trailer(kEpochsMagic, FileChecksum::Of(file.epochs)));
  if (file.meta_graph) absl::StrAppend(&bytes, Trailer(kGraphMagic, *file.meta_graph));
  return bytes;
}

InputFile DecodeInputFile(std::string bytes) {
  InputFile file;
  file.meta_graph = TakeTrailer(kGraphMagic, bytes);
  std::string before = bytes;
  const std::optional<FileChecksum> epochs = TakeTrailer(kEpochsMagic, before);
  if (epochs.has_value() && epochs->num_bytes <= before.size()) {
    const size_t begin = before.size() - epochs->num_bytes;
    if (Crc32c(absl::string_view(before).substr(begin)) == epochs->crc32c) {
      file.epochs = before.substr(begin);
      bytes = before.substr(0, begin);
    }
  }
  file.state = std::move(bytes);
  return file;
}

// Positions, seeds and counts, and a few bytes for each element of the buffers of shuffles.
constexpr int64_t kMaxInputBytes = int64_t{512} << 20;

absl::StatusOr<InputFile> ReadInputFile(absl::string_view prefix) {
  EST_ASSIGN_OR_RETURN(std::string bytes, ReadFile(InputStatePath(prefix), kMaxInputBytes));
  return DecodeInputFile(std::move(bytes));
}

absl::Status CheckMetaGraphBytes(absl::string_view contents, const FileChecksum& checksum) {
  if (contents.size() != checksum.num_bytes) {
    return DataLoss("it has ", contents.size(), " bytes, but was saved with ", checksum.num_bytes);
  }
  const uint32_t crc = Crc32c(contents);
  if (crc == checksum.crc32c) return absl::OkStatus();
  return DataLoss("the crc32c of its ", contents.size(), " bytes is ",
                  absl::Hex(crc, absl::kZeroPad8), ", but was ",
                  absl::Hex(checksum.crc32c, absl::kZeroPad8), " when it was saved");
}

}  // namespace estimator
