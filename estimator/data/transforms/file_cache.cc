// Cache(filename). The first whole pass writes the file; later passes and runs read it.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/cache_file.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// A pass reads the file if it was complete at the beginning. Otherwise it reads the input. It also
// writes the file, unless it began in the middle or another pass is writing.
// State: elements returned, whether the pass reads the input; if so the state of the input
// (nested).
class FileCacheIterator final : public NodeIterator {
 public:
  FileCacheIterator(std::string filename, std::string description,
                    std::unique_ptr<CacheFileReader> reader, IteratorPtr input)
      : filename_(std::move(filename)),
        description_(std::move(description)),
        reader_(std::move(reader)),
        input_(std::move(input)) {}
  ~FileCacheIterator() override {
    if (writer_ == nullptr || position_ == 0) return;
    LOG(WARNING) << "Cache: " << filename_ << " is not written, because the pass ended after "
                 << position_ << " elements; only a pass over the whole dataset writes it";
  }

  absl::StatusOr<std::optional<Element>> Next() override {
    if (reader_ != nullptr) {
      if (position_ >= reader_->size()) return std::nullopt;
      absl::StatusOr<Element> element = reader_->Next();
      if (!element.ok()) return Annotate(element.status(), "Cache");
      ++position_;
      return *std::move(element);
    }
    if (may_write_ && writer_ == nullptr) EST_RETURN_IF_ERROR(BeginWriting());
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (element) {
      if (writer_ != nullptr) EST_RETURN_IF_ERROR(Annotate(writer_->Add(*element), "Cache"));
      ++position_;
    } else if (writer_ != nullptr) {
      const std::unique_ptr<CacheFileWriter> writer = std::move(writer_);
      may_write_ = false;
      EST_RETURN_IF_ERROR(Annotate(writer->Finish(), "Cache"));
    }
    return element;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    if (reader_ != nullptr) {
      const int64_t skipped = std::min(count, reader_->size() - position_);
      position_ += skipped;
      reader_->Seek(position_);
      return skipped;
    }
    if (may_write_) return NodeIterator::Skip(count);
    EST_ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(count));
    position_ += skipped;
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override {
    if (reader_ != nullptr) return SaveFields(state, position_, /*has_input=*/false);
    return SaveFields(state, position_, /*has_input=*/true, input_);
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(const int64_t position, state.Int());
    EST_ASSIGN_OR_RETURN(const bool has_input, state.Bool());
    if (has_input && reader_ == nullptr) {
      may_write_ = position == 0;
      position_ = position;
      return RestoreNested(*input_, state);
    }
    if (has_input) EST_RETURN_IF_ERROR(state.Bytes().status());  // the file is complete by now
    EST_ASSIGN_OR_RETURN(const int64_t skipped, Skip(position));
    if (skipped == position) return absl::OkStatus();
    return InvalidArgument("Cache: the saved input position is element ", position, ", but ",
                           filename_, " has only ", skipped,
                           "; it was written again from other data");
  }
  std::string Where() const override {
    return absl::StrCat("element ", position_ - 1, " of the cache ", filename_);
  }

 private:
  absl::Status BeginWriting() {
    absl::StatusOr<std::unique_ptr<CacheFileWriter>> writer =
        CacheFileWriter::Create(filename_, description_);
    if (writer.ok()) {
      EST_ASSIGN_OR_RETURN(const bool finished, Exists(filename_));
      if (finished) {  // another pass finished it since this one began
        may_write_ = false;
      } else {
        writer_ = *std::move(writer);
      }
      return absl::OkStatus();
    }
    if (!absl::IsAlreadyExists(writer.status())) return Annotate(writer.status(), "Cache");
    LOG(INFO) << "Cache: this pass does not write " << filename_ << ": "
              << writer.status().message();
    may_write_ = false;
    return absl::OkStatus();
  }

  const std::string filename_;
  const std::string description_;
  std::unique_ptr<CacheFileReader> reader_;  // null if the pass reads the input
  IteratorPtr input_;                        // null if it reads the file
  std::unique_ptr<CacheFileWriter> writer_;
  bool may_write_ = true;
  int64_t position_ = 0;
};

class FileCache final : public TransformNode {
 public:
  FileCache(NodePtr input, std::string filename)
      : TransformNode(std::move(input)), filename_(std::move(filename)) {}
  std::string Label() const override { return "Cache(file)"; }
  bool keeps_elements() const override { return true; }

 private:
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    EST_ASSIGN_OR_RETURN(const bool finished, Exists(filename_));
    if (!finished) return TransformNode::NewIterator(context);
    const std::string description = DescribeNode(*input());
    absl::StatusOr<std::unique_ptr<CacheFileReader>> reader =
        CacheFileReader::Open(filename_, description);
    if (!reader.ok()) return Annotate(reader.status(), "Cache");
    return std::make_unique<FileCacheIterator>(filename_, description, *std::move(reader), nullptr);
  }
  void ForInput(IterationContext& context) const override {
    context.wants_indices = false;
    // As for the cache in memory, a shuffle in the input is not shuffled again.
    context.epoch_key = 0;
  }
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<FileCacheIterator>(filename_, DescribeNode(*this->input()), nullptr,
                                               std::move(input));
  }

  const std::string filename_;
};

}  // namespace

NodePtr FileCacheNode(NodePtr input, std::string filename) {
  return std::make_shared<FileCache>(std::move(input), std::move(filename));
}

}  // namespace estimator
