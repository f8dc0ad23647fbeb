#include "estimator/data/transforms/cache_file.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_bytes.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr absl::string_view kMagic = "ECCH", kTailMagic = "ECND";
constexpr uint64_t kVersion = 1;
constexpr int64_t kRecordOverhead = 16;  // of a TFRecord around its data
constexpr size_t kWordBytes = 8;
constexpr size_t kTailBytes = 4 + 2 * kWordBytes;

std::string Partial(absl::string_view path) { return absl::StrCat(path, ".partial"); }

absl::Status Damaged(absl::string_view path, absl::string_view what) {
  return DataLoss(path, ": ", what, "; delete the file, and the next run writes it again");
}

}  // namespace

CacheFileWriter::CacheFileWriter(std::string path, std::unique_ptr<FileLock> lock,
                                 std::unique_ptr<TFRecordWriter> records)
    : path_(std::move(path)), lock_(std::move(lock)), records_(std::move(records)) {}

absl::StatusOr<std::unique_ptr<CacheFileWriter>> CacheFileWriter::Create(
    absl::string_view path, absl::string_view description) {
  if (const absl::string_view directory = Dirname(path); !directory.empty()) {
    EST_RETURN_IF_ERROR(CreateDirectories(directory));
  }
  absl::StatusOr<std::unique_ptr<FileLock>> lock = FileLock::TryLock(absl::StrCat(path, ".lock"));
  if (absl::IsUnimplemented(lock.status())) {
    // As in training, which continues on such a file system. A second writer would mix its records
    // with ours; the checksums and the tail make that an error when the file is read.
    LOG(WARNING)
        << "Cache: " << lock.status().message()
        << ": a second program that writes this cache will not be noticed; let one program "
           "finish its first pass before another starts";
    lock = nullptr;
  }
  EST_RETURN_IF_ERROR(lock.status());
  EST_ASSIGN_OR_RETURN(std::unique_ptr<TFRecordWriter> records,
                       TFRecordWriter::Open(Partial(path)));
  std::unique_ptr<CacheFileWriter> writer(
      new CacheFileWriter(std::string(path), *std::move(lock), std::move(records)));
  StateWriter header;
  header.Int(kVersion);
  header.Bytes(description);
  EST_RETURN_IF_ERROR(writer->Write(absl::StrCat(kMagic, header.bytes())));
  return writer;
}

CacheFileWriter::~CacheFileWriter() {
  if (finished_) return;
  records_->Close().IgnoreError();  // its content is removed
  const absl::Status removed = RemoveFile(Partial(path_));
  if (!removed.ok() && !absl::IsNotFound(removed)) LOG(WARNING) << "Cache: " << removed;
}

absl::Status CacheFileWriter::Write(const std::string& record) {
  EST_RETURN_IF_ERROR(records_->Write(record));
  offset_ += kRecordOverhead + static_cast<int64_t>(record.size());
  return absl::OkStatus();
}

absl::Status CacheFileWriter::Add(const Element& element) {
  const std::string record = ElementToBytes(element);
  sizes_.push_back(static_cast<int64_t>(record.size()));
  return Write(record);
}

absl::Status CacheFileWriter::Finish() {
  StateWriter index;
  for (const int64_t size : sizes_) index.Int(size);
  std::string tail(kTailMagic);
  AppendLittleEndian(static_cast<uint64_t>(sizes_.size()), kWordBytes, &tail);
  AppendLittleEndian(static_cast<uint64_t>(offset_), kWordBytes, &tail);
  EST_RETURN_IF_ERROR(Write(index.bytes()));
  EST_RETURN_IF_ERROR(Write(tail));
  EST_RETURN_IF_ERROR(records_->Close());
  EST_RETURN_IF_ERROR(SyncFile(Partial(path_)));
  EST_RETURN_IF_ERROR(RenameFile(Partial(path_), path_));
  finished_ = true;
  return SyncDirectory(Dirname(path_));
}

absl::StatusOr<std::unique_ptr<CacheFileReader>> CacheFileReader::Open(
    absl::string_view path, absl::string_view description) {
  EST_ASSIGN_OR_RETURN(std::unique_ptr<TFRecordReader> records, TFRecordReader::Open(path));
  std::unique_ptr<CacheFileReader> reader(new CacheFileReader(std::move(records)));
  EST_RETURN_IF_ERROR(reader->ReadIndex(description));
  return reader;
}

absl::StatusOr<std::string> CacheFileReader::ReadRecord(int64_t index, int64_t offset) {
  EST_RETURN_IF_ERROR(records_->Seek({.offset = offset, .index = index}));
  absl::StatusOr<std::optional<std::string>> record = records_->Next();
  if (absl::IsDataLoss(record.status())) {
    return DataLoss(record.status().message(),
                    "; delete the file, and the next run writes it again");
  }
  EST_RETURN_IF_ERROR(record.status());
  if (!record->has_value()) return Damaged(records_->path(), "it ends too early");
  return **std::move(record);
}

absl::Status CacheFileReader::ReadIndex(absl::string_view description) {
  const std::string path = records_->path();
  EST_ASSIGN_OR_RETURN(const int64_t file_size, FileSize(path));
  EST_ASSIGN_OR_RETURN(const std::string header, ReadRecord(0, 0));
  if (absl::string_view(header).substr(0, kMagic.size()) != kMagic) {
    return FailedPrecondition(path, ": this TFRecord file is not a cache; give another filename");
  }
  StateReader fields(absl::string_view(header).substr(kMagic.size()));
  EST_ASSIGN_OR_RETURN(const uint64_t version, fields.Unsigned());
  if (version != kVersion) {
    return FailedPrecondition(path, ": the cache has version ", version,
                              ", but this program reads version ", kVersion,
                              "; delete the file, and the next run writes it again");
  }
  EST_ASSIGN_OR_RETURN(const absl::string_view saved, fields.Bytes());
  if (saved != description) {
    return FailedPrecondition(path, ": the cache is of another pipeline: cached \"", saved,
                              "\", now \"", description,
                              "\"; delete the file, or give another filename");
  }
  const int64_t header_end = kRecordOverhead + static_cast<int64_t>(header.size());
  const int64_t tail_begin = file_size - kRecordOverhead - static_cast<int64_t>(kTailBytes);
  if (tail_begin < header_end) return Damaged(path, "the cache is cut short");
  const absl::StatusOr<std::string> tail = ReadRecord(0, tail_begin);
  if (!tail.ok() && !absl::IsDataLoss(tail.status())) return tail.status();
  if (!tail.ok() || tail->size() != kTailBytes ||
      absl::string_view(*tail).substr(0, kTailMagic.size()) != kTailMagic) {
    return Damaged(path, "the cache has no tail: it is cut short or damaged");
  }
  const absl::string_view numbers = absl::string_view(*tail).substr(kTailMagic.size());
  const uint64_t count = LoadLittleEndian(numbers.substr(0, kWordBytes));
  const auto index_begin = static_cast<int64_t>(LoadLittleEndian(numbers.substr(kWordBytes)));
  if (index_begin < header_end || index_begin > tail_begin) {
    return Damaged(path, absl::StrCat("its tail has a wrong offset, ", index_begin));
  }
  EST_ASSIGN_OR_RETURN(const std::string index,
                       ReadRecord(static_cast<int64_t>(count) + 1, index_begin));
  StateReader sizes(index);
  int64_t offset = header_end;
  // Each size takes at least one byte, so a damaged count cannot loop for long.
  if (count > index.size()) return Damaged(path, "its index is too short");
  for (uint64_t i = 0; i < count; ++i) {
    EST_ASSIGN_OR_RETURN(const int64_t size, sizes.Int());
    offsets_.push_back(offset);
    if (size > index_begin - offset) return Damaged(path, "its index has a wrong size");
    offset += kRecordOverhead + size;
  }
  const int64_t index_end = index_begin + kRecordOverhead + static_cast<int64_t>(index.size());
  if (offset != index_begin || sizes.remaining() > 0 || index_end != tail_begin) {
    return Damaged(path, "its index does not match its records");
  }
  return absl::OkStatus();
}

absl::StatusOr<Element> CacheFileReader::Next() {
  EST_ASSIGN_OR_RETURN(const std::string record,
                       ReadRecord(position_ + 1, offsets_[static_cast<size_t>(position_)]));
  absl::StatusOr<Element> element = ElementFromBytes(record);
  if (!element.ok()) {
    return Damaged(records_->path(),
                   absl::StrCat("element ", position_, ": ", element.status().message()));
  }
  ++position_;
  return element;
}

}  // namespace estimator
