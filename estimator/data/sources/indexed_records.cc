#include "estimator/data/sources/indexed_records.h"

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/sources/file_records.h"
#include "estimator/data/transforms/thread_pool.h"
#include "estimator/records/tfrecord.h"
#include "estimator/records/tfrecord_index.h"

namespace estimator {
namespace {

// Open files, of which a process may have about 1000. Thread-safe.
class OpenFiles {
 public:
  absl::StatusOr<std::shared_ptr<const RandomAccessFile>> Get(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& file : files_) {
      if (file->path() == path) return file;
    }
    EST_ASSIGN_OR_RETURN(std::shared_ptr<const RandomAccessFile> file,
                         RandomAccessFile::Open(path));
    files_.push_back(file);
    if (files_.size() > kMostFiles) files_.pop_front();
    return file;
  }

 private:
  static constexpr size_t kMostFiles = 64;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const RandomAccessFile>> files_;
};

struct IndexedFile {
  std::string path;
  TFRecordIndex index;
  int64_t first_record = 0;
};

class IndexedRecords final : public RandomAccess {
 public:
  IndexedRecords(std::vector<IndexedFile> files, int64_t size, int num_threads)
      : files_(std::move(files)), size_(size), num_threads_(num_threads) {}

  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override {
    const IndexedFile& file = FileOfRecord(files_, index);
    const auto i = static_cast<size_t>(index - file.first_record);
    const int64_t begin = file.index.offsets[i];
    const auto size = static_cast<size_t>(file.index.offsets[i + 1] - begin);
    EST_ASSIGN_OR_RETURN(const std::shared_ptr<const RandomAccessFile> open, open_.Get(file.path));
    std::string bytes(size, '\0');
    EST_RETURN_IF_ERROR(open->ReadExactly(begin, size, bytes.data()));
    const absl::StatusOr<absl::string_view> data = ParseTFRecord(bytes);
    if (!data.ok()) {
      return Annotate(data.status(), absl::StrCat(file.path, ": record ", i, " at byte ", begin));
    }
    return StringElement(std::string(*data));
  }
  absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const override {
    if (num_threads_ == 1 || indices.size() < 2) return RandomAccess::GetMany(indices);
    std::vector<Element> elements(indices.size());
    std::vector<absl::Status> statuses(indices.size());
    Pool().ParallelFor(indices.size(), [&](size_t i) {
      absl::StatusOr<Element> element = Get(indices[i]);
      statuses[i] = element.status();
      if (element.ok()) elements[i] = *std::move(element);
    });
    for (const absl::Status& status : statuses) EST_RETURN_IF_ERROR(status);
    return elements;
  }
  std::string Where(int64_t index) const override {
    const IndexedFile& file = FileOfRecord(files_, index);
    const int64_t record = index - file.first_record;
    return absl::StrCat("record ", record, " of ", file.path, " at byte ",
                        file.index.offsets[static_cast<size_t>(record)]);
  }

 private:
  ThreadPool& Pool() const {
    std::call_once(pool_made_, [this] { pool_ = std::make_unique<ThreadPool>(num_threads_ - 1); });
    return *pool_;
  }

  std::vector<IndexedFile> files_;  // without empty ones, so that no two begin at one record
  int64_t size_;
  int num_threads_;
  mutable OpenFiles open_;
  mutable std::once_flag pool_made_;
  mutable std::unique_ptr<ThreadPool> pool_;  // made by the first GetMany that needs it
};

absl::StatusOr<NodePtr> Open(const std::vector<std::string>& files,
                             const TFRecordDatasetOptions& options) {
  if (options.compression != Compression::kNone) {
    return InvalidArgument(
        "TFRecord: .indexed is set, but ", CompressionName(options.compression),
        " files cannot be read at any position; decompress the files, or leave out "
        ".indexed");
  }
  std::vector<IndexedFile> indexed;
  int64_t num_records = 0;
  for (const std::string& path : files) {
    EST_ASSIGN_OR_RETURN(TFRecordIndex index, LoadTFRecordIndex(path));
    const int64_t count = index.num_records();
    if (count == 0) continue;
    indexed.push_back({.path = path, .index = std::move(index), .first_record = num_records});
    num_records += count;
  }
  return IndexedNode(
      "TFRecord(indexed)",
      std::make_shared<IndexedRecords>(std::move(indexed), num_records, options.num_parallel_reads),
      StringSpec());
}

}  // namespace

NodePtr IndexedRecordsNode(const std::vector<std::string>& files,
                           const TFRecordDatasetOptions& options) {
  absl::StatusOr<NodePtr> node = Open(files, options);
  return node.ok() ? *std::move(node) : ErrorNode(node.status());
}

}  // namespace estimator
