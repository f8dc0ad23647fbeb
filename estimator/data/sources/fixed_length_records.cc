// FixedLengthRecordDataset. The place of a record follows from its index.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/data/sources/file_records.h"

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
      EST_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
      EST_ASSIGN_OR_RETURN(file.contents, Decompress(bytes, options.compression, path));
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
