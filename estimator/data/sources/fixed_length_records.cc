// FixedLengthRecordDataset. The place of a record follows from its index.
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/records/byte_stream.h"

namespace estimator {
namespace {

struct RecordFile {
  std::string path;
  std::unique_ptr<RandomAccessFile> file;  // if null, `contents` has the bytes
  std::string contents;
  int64_t first_record = 0;

  int64_t size() const { return file ? file->size() : static_cast<int64_t>(contents.size()); }
};

class FixedLengthRecords final : public RandomAccess {
 public:
  FixedLengthRecords(std::vector<RecordFile> files, int64_t size, int64_t record_bytes,
                     int64_t header_bytes)
      : files_(std::move(files)),
        size_(size),
        record_bytes_(record_bytes),
        header_bytes_(header_bytes) {}
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override {
    const RecordFile& file = FileOfRecord(files_, index);
    const int64_t offset = header_bytes_ + (index - file.first_record) * record_bytes_;
    const auto bytes = static_cast<size_t>(record_bytes_);
    if (file.file == nullptr) {
      return StringElement(file.contents.substr(static_cast<size_t>(offset), bytes));
    }
    std::string text(bytes, '\0');
    EST_RETURN_IF_ERROR(file.file->ReadExactly(offset, bytes, text.data()));
    return StringElement(std::move(text));
  }
  std::string Where(int64_t index) const override {
    const RecordFile& file = FileOfRecord(files_, index);
    return absl::StrCat("record ", index - file.first_record, " of ", file.path);
  }

 private:
  std::vector<RecordFile> files_;
  int64_t size_, record_bytes_, header_bytes_;
};

// The decompressed bytes of a file. Records are read in any order, so all of them are in memory.
// If they might not fit, they are counted first, without being kept.
absl::StatusOr<std::string> DecompressedFile(const std::string& path, Compression compression) {
  EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const std::optional<AvailableMemory> memory = ReadAvailableMemory();
  constexpr int64_t kLargestRatio = 1032;  // of zlib's format
  if (memory && static_cast<int64_t>(bytes.size()) > memory->bytes / 2 / kLargestRatio) {
    const int64_t most = memory->bytes / 2;  // a string that grows is in memory twice
    EST_ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> stream,
                         ByteStream::Open(path, compression));
    std::string piece(ByteStream::kBufferBytes, '\0');
    while (stream->offset() <= most) {
      EST_ASSIGN_OR_RETURN(const size_t count, stream->Read(piece.size(), piece.data()));
      if (count < piece.size()) break;
    }
    if (stream->offset() > most) {
      return ResourceExhausted(path, ": has more than ", HumanBytes(most),
                               " decompressed, too much for the memory (", memory->bound,
                               "); decompress the file: one that is not compressed stays on disk");
    }
  }
  return Decompress(bytes, compression, path);
}

absl::StatusOr<NodePtr> Open(const std::vector<std::string>& paths, int64_t record_bytes,
                             const FixedLengthRecordOptions& options) {
  if (record_bytes < 1 || options.header_bytes < 0 || options.footer_bytes < 0) {
    return InvalidArgument("FixedLengthRecordDataset: record_bytes is ", record_bytes,
                           ", header_bytes ", options.header_bytes, ", footer_bytes ",
                           options.footer_bytes,
                           "; record_bytes must be positive, the others must not be negative");
  }
  EST_RETURN_IF_ERROR(CheckFilesExist("FixedLengthRecordDataset", paths));
  std::vector<RecordFile> files;
  int64_t num_records = 0;
  for (const std::string& path : paths) {
    RecordFile file{.path = path, .file = nullptr, .contents = {}, .first_record = num_records};
    if (options.compression == Compression::kNone) {
      EST_ASSIGN_OR_RETURN(file.file, RandomAccessFile::Open(path));
    } else {
      EST_ASSIGN_OR_RETURN(file.contents, DecompressedFile(path, options.compression));
    }
    const int64_t body = file.size() - options.header_bytes - options.footer_bytes;
    if (body < 0 || body % record_bytes != 0) {
      return DataLoss(
          path, ": its ", file.size(), " bytes are not a header of ", options.header_bytes,
          ", records of ", record_bytes, " and a footer of ", options.footer_bytes, " bytes: ",
          body < 0 ? "it is too short" : absl::StrCat(body % record_bytes, " bytes are left over"));
    }
    if (body == 0) continue;
    num_records += body / record_bytes;
    files.push_back(std::move(file));
  }
  return IndexedNode("FixedLengthRecord",
                     std::make_shared<FixedLengthRecords>(std::move(files), num_records,
                                                          record_bytes, options.header_bytes),
                     StringSpec());
}

}  // namespace

Dataset FixedLengthRecordDataset(std::vector<std::string> files, int64_t record_bytes,
                                 FixedLengthRecordOptions options) {
  absl::StatusOr<NodePtr> node = Open(files, record_bytes, options);
  return Dataset(node.ok() ? *std::move(node) : ErrorNode(node.status()));
}

}  // namespace estimator
