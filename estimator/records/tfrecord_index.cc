#include "estimator/records/tfrecord_index.h"

#include <bit>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"
#include "estimator/records/counts_in_names.h"
#include "estimator/records/tfrecord.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr absl::string_view kMagic = "TFRI";
constexpr char kVersion = 1;  // on disk: do not change
constexpr size_t kWordBytes = 8, kIndexCrcBytes = 4;
constexpr size_t kHeadBytes = kMagic.size() + 1 + 3 * kWordBytes;
// The scan reads a few bytes of each record. A large buffer would read the data as well.
constexpr int64_t kScanBufferBytes = 16 << 10;

absl::StatusOr<TFRecordIndex> Scan(StringArg path, const TFRecordOptions& options) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TFRecordReader> reader,
                       TFRecordReader::Open(path, options));
  TFRecordIndex index;
  while (true) {
    EST_ASSIGN_OR_RETURN(const bool more, reader->Skip());
    if (!more) return index;
    index.offsets.push_back(reader->position().offset);
  }
}

}  // namespace

std::string TFRecordIndexPath(StringArg path) {
  const size_t name = path.find_last_of('/') + 1;  // npos + 1 is 0
  return absl::StrCat(path.substr(0, name), ".", path.substr(name), ".index");
}

std::string EncodeTFRecordIndex(const TFRecordIndex& index, double modified) {
  std::string bytes = absl::StrCat(kMagic, absl::string_view(&kVersion, 1));
  const auto num_records = static_cast<size_t>(index.num_records());
  bytes.reserve(kHeadBytes + num_records * kWordBytes + kIndexCrcBytes);
  AppendLittleEndian(static_cast<uint64_t>(index.offsets.back()), kWordBytes, &bytes);
  AppendLittleEndian(std::bit_cast<uint64_t>(modified), kWordBytes, &bytes);
  AppendLittleEndian(num_records, kWordBytes, &bytes);
  for (size_t i = 0; i < num_records; ++i) {
    AppendLittleEndian(static_cast<uint64_t>(index.offsets[i]), kWordBytes, &bytes);
  }
  AppendLittleEndian(MaskCrc32c(Crc32c(bytes)), kIndexCrcBytes, &bytes);
  return bytes;
}

absl::StatusOr<TFRecordIndex> DecodeTFRecordIndex(absl::string_view bytes, int64_t file_size,
                                                  double modified) {
  if (bytes.size() < kHeadBytes + kIndexCrcBytes || bytes.substr(0, kMagic.size()) != kMagic) {
    return DataLoss("not an index of a TFRecord file: its ", bytes.size(),
                    " bytes are too few, or do not begin with \"", kMagic, "\"");
  }
  const absl::string_view body = bytes.substr(0, bytes.size() - kIndexCrcBytes);
  if (UnmaskCrc32c(static_cast<uint32_t>(LoadLittleEndian(bytes.substr(body.size())))) !=
      Crc32c(body)) {
    return DataLoss("its crc32c does not match");
  }
  if (body[kMagic.size()] != kVersion) {
    return NotFound("its version is ", body[kMagic.size()] + 0);
  }
  absl::string_view rest = body.substr(kMagic.size() + 1);
  const auto take = [&rest] {
    const uint64_t value = LoadLittleEndian(rest.substr(0, kWordBytes));
    rest.remove_prefix(kWordBytes);
    return value;
  };
  const uint64_t saved_size = take();
  if (saved_size != static_cast<uint64_t>(file_size) ||
      take() != std::bit_cast<uint64_t>(modified)) {
    return NotFound("the TFRecord file has changed since");
  }
  const uint64_t num_records = take();
  if (rest.size() % kWordBytes != 0 || num_records != rest.size() / kWordBytes) {
    return DataLoss("it has ", rest.size(), " bytes for ", num_records, " records");
  }
  TFRecordIndex index;
  index.offsets.clear();
  index.offsets.reserve(num_records + 1);
  int64_t least = 0;  // the next record begins here or later
  for (uint64_t i = 0; i < num_records; ++i) {
    const uint64_t offset = take();
    const bool valid =
        i == 0 ? offset == 0 : offset >= static_cast<uint64_t>(least) && offset < saved_size;
    if (!valid) return DataLoss("record ", i, " is at byte ", offset);
    index.offsets.push_back(static_cast<int64_t>(offset));
    least = index.offsets.back() + kTFRecordOverheadBytes;
  }
  if (num_records == 0 ? file_size != 0 : file_size < least) {
    return DataLoss(num_records, " records do not fit a file of ", file_size, " bytes");
  }
  index.offsets.push_back(file_size);
  return index;
}

absl::StatusOr<TFRecordIndex> LoadTFRecordIndex(StringArg path) {
  EST_ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
  EST_ASSIGN_OR_RETURN(const double modified, FileModifiedTimeSeconds(path));
  const std::string cached_path = TFRecordIndexPath(path);
  // A record takes more bytes than its place in the index.
  const absl::StatusOr<std::string> bytes = ReadFile(cached_path, size + 1024);
  absl::Status status = bytes.status();
  if (status.ok()) {
    absl::StatusOr<TFRecordIndex> cached = DecodeTFRecordIndex(*bytes, size, modified);
    if (cached.ok()) return cached;
    status = cached.status();
  }
  // A file that has changed is nothing to worry about, so only damage is a warning.
  if (!absl::IsNotFound(status)) {
    LOG(WARNING) << cached_path << ": " << status.message() << "; it is made again";
  }
  EST_ASSIGN_OR_RETURN(TFRecordIndex index, Scan(path, {.buffer_size_bytes = kScanBufferBytes}));
  if (index.offsets.back() != size) return index;  // the file grew during the scan
  const absl::Status written = WriteDerivedFile(cached_path, EncodeTFRecordIndex(index, modified));
  if (!written.ok()) {
    LOG_FIRST_N(INFO, 1) << "The index of a TFRecord file is kept in memory and made again by the "
                            "next run, because it cannot be saved: "
                         << written.message();
  }
  return index;
}

absl::StatusOr<int64_t> CountRecords(const std::vector<std::string>& files,
                                     Compression compression) {
  if (const std::optional<int64_t> count = SumOfCountsInNames(files)) return *count;
  int64_t total = 0;
  for (const std::string& file : files) {
    EST_ASSIGN_OR_RETURN(const TFRecordIndex index, compression == Compression::kNone
                                                        ? LoadTFRecordIndex(file)
                                                        : Scan(file, {.compression = compression}));
    total += index.num_records();
  }
  return total;
}

}  // namespace estimator
