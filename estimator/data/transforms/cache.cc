// Cache. It keeps elements in memory after they are read; all iterators of the dataset share them.
//   Indexed input: the result is indexed too. Rows are copied into whole arrays, and memcpy gathers
//   batches from them. If the shapes of rows differ, the elements are kept one by one.
//   Stream: the first whole pass fills the cache.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/rows.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

// An array for `size` rows. calloc gets zeroed pages from the system, which uses memory only for
// the rows that are written.
Array ColumnFor(const Array& row, int64_t size) {
  Shape shape = WithAxis(size, row.shape());
  if (row.dtype() == DType::kString) return Array(DType::kString, shape);
  void* block = std::calloc(static_cast<size_t>(size), std::max<size_t>(1, row.num_bytes()));
  return Array::Wrap(row.dtype(), std::move(shape), block, std::shared_ptr<void>(block, std::free));
}

class CachedAccess final : public RandomAccess {
 public:
  explicit CachedAccess(SourcePtr input)
      : input_(std::move(input)), filled_(static_cast<size_t>(input_->size()), false) {}

  int64_t size() const override { return input_->size(); }
  absl::StatusOr<Element> Get(int64_t index) const override {
    EST_RETURN_IF_ERROR(Fill({&index, 1}));
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    return At(index);
  }
  absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const override {
    EST_RETURN_IF_ERROR(Fill(indices));
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    std::vector<Element> elements;
    elements.reserve(indices.size());
    for (const int64_t index : indices) elements.push_back(At(index));
    return elements;
  }
  absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const override {
    EST_RETURN_IF_ERROR(Fill(indices));
    {
      const std::shared_lock<std::shared_mutex> lock(mutex_);
      if (elements_.empty()) return GatherRows(columns_, indices);
    }
    return RandomAccess::Gather(indices);
  }
  std::string Where(int64_t index) const override { return input_->Where(index); }
  bool in_memory() const override { return true; }

 private:
  Element At(int64_t index) const {
    if (!elements_.empty()) return elements_[static_cast<size_t>(index)];
    return RowOf(columns_, index);
  }

  absl::Status Fill(absl::Span<const int64_t> indices) const {
    if (num_missing_.load(std::memory_order_acquire) == 0) return absl::OkStatus();
    std::vector<int64_t> missing;
    {
      const std::shared_lock<std::shared_mutex> lock(mutex_);
      for (const int64_t index : indices) {
        if (!filled_[static_cast<size_t>(index)]) missing.push_back(index);
      }
    }
    if (missing.empty()) return absl::OkStatus();
    // Without the lock, so that threads read at the same time. Two may read the same row.
    EST_ASSIGN_OR_RETURN(std::vector<Element> elements, input_->GetMany(missing));
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    for (size_t i = 0; i < missing.size(); ++i) Store(missing[i], std::move(elements[i]));
    return absl::OkStatus();
  }

  void Store(int64_t index, Element element) const {
    if (filled_[static_cast<size_t>(index)]) return;  // another thread stored it first
    if (num_missing_ == size()) {
      for (const auto map : {&Element::features, &Element::labels}) {
        for (const auto& [name, row] : element.*map) (columns_.*map)[name] = ColumnFor(row, size());
      }
    }
    // The first row of another type moves all rows from the arrays to single elements.
    if (elements_.empty() && !IsRowOf(element, columns_)) {
      elements_.resize(static_cast<size_t>(size()));
      for (int64_t i = 0; i < size(); ++i) {
        if (filled_[static_cast<size_t>(i)]) elements_[static_cast<size_t>(i)] = RowOf(columns_, i);
      }
      columns_ = Element();
    }
    if (elements_.empty()) {
      CopyRow(element, index, columns_);
    } else {
      elements_[static_cast<size_t>(index)] = std::move(element);
    }
    filled_[static_cast<size_t>(index)] = true;
    num_missing_.fetch_sub(1, std::memory_order_release);
  }

  SourcePtr input_;
  mutable std::shared_mutex mutex_;  // guards all members below
  mutable std::vector<bool> filled_;
  mutable Element columns_;                // [size, ...], if all rows have the same types
  mutable std::vector<Element> elements_;  // used otherwise
  mutable std::atomic<int64_t> num_missing_{input_->size()};
};

// The elements of the first whole pass over a stream. Thread-safe.
class CachedPass {
 public:
  using Elements = std::shared_ptr<const std::vector<Element>>;
  Elements Get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return elements_;
  }
  void Set(Elements elements) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (elements_ == nullptr) elements_ = std::move(elements);
  }

 private:
  mutable std::mutex mutex_;
  Elements elements_;
};

// State: the number of elements returned.
class CacheIterator final : public TransformIterator {
 public:
  CacheIterator(IteratorPtr input, std::shared_ptr<CachedPass> pass)
      : TransformIterator(std::move(input)), pass_(std::move(pass)), cached_(pass_->Get()) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    if (cached_ == nullptr) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element) {
        filling_.push_back(*element);
        ++position_;
        return element;
      }
      cached_ = std::make_shared<const std::vector<Element>>(std::move(filling_));
      pass_->Set(cached_);
    }
    if (position_ >= static_cast<int64_t>(cached_->size())) return std::nullopt;
    return (*cached_)[static_cast<size_t>(position_++)];
  }
  absl::Status Save(StateWriter& state) const override { return SaveFields(state, position_); }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(const int64_t position, state.Int());
    EST_ASSIGN_OR_RETURN(const int64_t skipped, Skip(position));
    if (skipped == position) return absl::OkStatus();
    return InvalidArgument("Cache: the saved input position is element ", position,
                           ", but the input has only ", skipped, ": it has changed since");
  }
  std::string Where() const override {
    return absl::StrCat("element ", position_ - 1, " of the cache");
  }

 private:
  std::shared_ptr<CachedPass> pass_;
  CachedPass::Elements cached_;
  std::vector<Element> filling_;
  int64_t position_ = 0;
};

// The source of the cached elements, or null if the input is not indexed.
SourcePtr CachedSource(const DatasetNode& input) {
  SourcePtr source = input.random_access();
  if (source == nullptr || source->in_memory()) return source;
  return std::make_shared<CachedAccess>(std::move(source));
}

class Cache final : public TransformNode {
 public:
  explicit Cache(NodePtr input) : TransformNode(input, CachedSource(*input)) {}
  std::string Label() const override { return "Cache"; }
  bool keeps_elements() const override { return true; }
  int64_t Cardinality() const override {
    if (const CachedPass::Elements elements = pass_->Get()) {
      return static_cast<int64_t>(elements->size());
    }
    return input()->Cardinality();
  }

 private:
  void ForInput(IterationContext& context) const override {
    context.wants_indices = false;
    // The cache keeps the first pass, so a shuffle in the input is not shuffled again.
    context.epoch_key = 0;
  }
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<CacheIterator>(std::move(input), pass_);
  }

  std::shared_ptr<CachedPass> pass_ = std::make_shared<CachedPass>();
};

}  // namespace

NodePtr CacheNode(NodePtr input) { return std::make_shared<Cache>(std::move(input)); }

}  // namespace estimator
