#include "estimator/data/transforms/mapped_access.h"

#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/user_function.h"
#include "estimator/data/transforms/row_stacker.h"
#include "estimator/data/transforms/thread_pool.h"

namespace estimator {
namespace {

class Access final : public RandomAccess {
 public:
  Access(SourcePtr input, MapFunction fn, int num_parallel_calls)
      : input_(std::move(input)), fn_(std::move(fn)), num_parallel_calls_(num_parallel_calls) {}

  int64_t size() const override { return input_->size(); }
  absl::StatusOr<Element> Get(int64_t index) const override {
    EST_ASSIGN_OR_RETURN(const Element element, input_->Get(index));
    return ApplyMap(fn_, element, [&] { return input_->Where(index); });
  }
  absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const override {
    std::vector<Element> mapped(indices.size());
    EST_RETURN_IF_ERROR(
        MapEach(indices, [&mapped](size_t i, Element element) { mapped[i] = std::move(element); }));
    return mapped;
  }
  // The threads that map also copy the rows into the batch.
  absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const override {
    RowStacker rows(static_cast<int64_t>(indices.size()));
    EST_RETURN_IF_ERROR(MapEach(indices, [&rows](size_t i, Element element) {
      rows.Add(static_cast<int64_t>(i), std::move(element));
    }));
    return rows.Finish(static_cast<int64_t>(indices.size()),
                       [&](size_t row) { return input_->Where(indices[row]); });
  }
  std::string Where(int64_t index) const override { return input_->Where(index); }

 private:
  // Calls take(i, element) for the mapped element of each index, in several threads. Returns the
  // first error in the order of the indices.
  absl::Status MapEach(absl::Span<const int64_t> indices,
                       const std::function<void(size_t, Element)>& take) const {
    EST_ASSIGN_OR_RETURN(std::vector<Element> elements, input_->GetMany(indices));
    std::vector<absl::Status> statuses(elements.size());
    const auto map_one = [&](size_t i) {
      absl::StatusOr<Element> mapped =
          ApplyMap(fn_, elements[i], [&] { return input_->Where(indices[i]); });
      elements[i] = Element();
      statuses[i] = mapped.status();
      if (mapped.ok()) take(i, *std::move(mapped));
    };
    if (num_parallel_calls_ > 1 && elements.size() > 1) {
      Pool().ParallelFor(elements.size(), map_one);
    } else {
      for (size_t i = 0; i < elements.size() && (i == 0 || statuses[i - 1].ok()); ++i) map_one(i);
    }
    for (const absl::Status& status : statuses) EST_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }
  ThreadPool& Pool() const {
    std::call_once(pool_made_, [this] {
      pool_ = std::make_unique<ThreadPool>(num_parallel_calls_ - 1);  // the caller is one more
    });
    return *pool_;
  }

  SourcePtr input_;
  MapFunction fn_;
  int num_parallel_calls_;
  mutable std::once_flag pool_made_;
  mutable std::unique_ptr<ThreadPool> pool_;
};

// Passes on the indices of another stream, for a mapped source. The state is that of PositionLog,
// as for the other two, so that a saved position does not depend on num_parallel_calls.
class Stream final : public IndexStream {
 public:
  Stream(IteratorPtr input, SourcePtr source)
      : IndexStream(std::move(source)), input_(std::move(input)) {}
  absl::StatusOr<std::optional<int64_t>> NextIndex() override {
    return input_->AsIndexStream()->NextIndex();
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override { return input_->Skip(count); }
  absl::Status Save(StateWriter& state) const override {
    return PositionLog::SaveCurrent(*input_, state);
  }
  absl::Status Restore(StateReader& state) override { return PositionLog::Restore(*input_, state); }

 private:
  IteratorPtr input_;
};

}  // namespace

absl::StatusOr<Element> ApplyMap(const MapFunction& fn, const Element& element,
                                 const std::function<std::string()>& where) {
  absl::StatusOr<Element> mapped = CallUserFunction(fn, element);
  if (mapped.ok()) return mapped;
  return Annotate(mapped.status(), absl::StrCat("Map: ", where()));
}

SourcePtr MappedAccess(SourcePtr input, MapFunction fn, int num_parallel_calls) {
  return std::make_shared<Access>(std::move(input), std::move(fn), num_parallel_calls);
}

IteratorPtr MappedStream(IteratorPtr input, SourcePtr source) {
  return std::make_unique<Stream>(std::move(input), std::move(source));
}

}  // namespace estimator
