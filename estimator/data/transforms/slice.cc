// Take, Skip and Shard. Each gives the blocks of elements begin, begin + step blocks, ..., up to a
// count of elements. A block is one element, unless Shard was given another size.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

struct Slice {
  int64_t begin;
  int64_t step;   // in blocks
  int64_t count;  // -1 for all
  int64_t block;  // elements

  // The number of elements in the slice of n elements.
  int64_t Of(int64_t n) const {
    const int64_t rest = std::max<int64_t>(0, n - begin), period = step * block;
    const int64_t reachable = rest / period * block + std::min(rest % period, block);
    return count < 0 ? reachable : std::min(count, reachable);
  }
  // The position in the input of element `index` of the slice.
  int64_t Map(int64_t index) const { return begin + index / block * step * block + index % block; }
  bool TakesAll() const { return begin == 0 && step == 1 && count < 0; }
};

class SliceAccess final : public RandomAccess {
 public:
  SliceAccess(SourcePtr input, Slice slice)
      : input_(std::move(input)), slice_(slice), size_(slice.Of(input_->size())) {}
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override { return input_->Get(Map(index)); }
  absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const override {
    return input_->GetMany(Map(indices));
  }
  absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const override {
    return input_->Gather(Map(indices));
  }
  std::string Where(int64_t index) const override { return input_->Where(Map(index)); }
  bool in_memory() const override { return input_->in_memory(); }

 private:
  int64_t Map(int64_t index) const { return slice_.Map(index); }
  std::vector<int64_t> Map(absl::Span<const int64_t> indices) const {
    std::vector<int64_t> mapped(indices.begin(), indices.end());
    for (int64_t& index : mapped) index = Map(index);
    return mapped;
  }

  SourcePtr input_;
  Slice slice_;
  int64_t size_;
};

// State: elements returned; the state of the input (nested).
template <typename Item>
class SliceIterator final : public Transform<Item> {
 public:
  SliceIterator(IteratorPtr input, Slice slice)
      : Transform<Item>(std::move(input)), slice_(slice) {}

  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, returned_, this->input_);
  }
  absl::Status Restore(StateReader& state) override {
    return RestoreFields(state, returned_, this->input_);
  }

 protected:
  absl::StatusOr<std::optional<Item>> Produce() override {
    if (slice_.count >= 0 && returned_ >= slice_.count) return std::nullopt;
    // Shard gives block `index` first, and then every num_shards-th one.
    const int64_t ahead = returned_ == 0                  ? slice_.begin
                          : returned_ % slice_.block == 0 ? (slice_.step - 1) * slice_.block
                                                          : 0;
    if (ahead > 0) {
      EST_ASSIGN_OR_RETURN(const int64_t skipped, this->input_->Skip(ahead));
      if (skipped < ahead) return std::nullopt;
    }
    absl::StatusOr<std::optional<Item>> item = this->Pull();
    if (item.ok() && item->has_value()) ++returned_;
    return item;
  }

 private:
  Slice slice_;
  int64_t returned_ = 0;
};

// The source of the slice, or null if the input is not indexed.
SourcePtr SliceSource(const DatasetNode& input, Slice slice) {
  SourcePtr source = input.random_access();
  return source == nullptr ? nullptr : std::make_shared<SliceAccess>(std::move(source), slice);
}

class SliceNodeImpl final : public TransformNode {
 public:
  SliceNodeImpl(NodePtr input, std::string label, Slice slice)
      : TransformNode(input, SliceSource(*input, slice)), label_(std::move(label)), slice_(slice) {}
  std::string Label() const override { return label_; }
  const Slice& slice() const { return slice_; }
  int64_t Cardinality() const override {
    const int64_t n = input()->Cardinality();
    if (n >= 0) return slice_.Of(n);
    if (n == Dataset::kInfinite) return slice_.count >= 0 ? slice_.count : Dataset::kInfinite;
    return slice_.count == 0 ? 0 : -1;
  }
  int64_t ExamplesPerEpoch() const override {
    const int64_t n = input()->ExamplesPerEpoch(), elements = input()->Cardinality();
    if (elements == -1) return slice_.TakesAll() ? n : -1;
    // After a Repeat a part of a pass is no pass. But what each shard gets of the first one adds up
    // to a pass.
    if (n > 0 && elements == Dataset::kInfinite && slice_.step > 1) return slice_.Of(n);
    if (n <= 0 || elements < 0) return n;
    // An element may be a batch.
    return static_cast<int64_t>(static_cast<double>(n) * static_cast<double>(slice_.Of(elements)) /
                                static_cast<double>(std::max<int64_t>(elements, 1)));
  }

 private:
  void ForInput(IterationContext&) const override {}
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return MakeTransform<SliceIterator>(std::move(input), slice_);
  }

  std::string label_;
  Slice slice_;
};

}  // namespace

std::function<int64_t(int64_t)> PositionsBeforeShard(const DatasetNode& node) {
  if (const auto* shard = dynamic_cast<const SliceNodeImpl*>(&node)) {
    if (shard->slice().step == 1) return nullptr;  // Take or Skip
    return [slice = shard->slice()](int64_t index) { return slice.Map(index); };
  }
  const std::string label = node.Label();
  return label == "Map" || label == "RandomMap" ? PositionsBeforeShard(*node.inputs()[0]) : nullptr;
}

NodePtr SliceNode(NodePtr input, std::string label, int64_t begin, int64_t step, int64_t count,
                  int64_t block) {
  return std::make_shared<SliceNodeImpl>(
      std::move(input), std::move(label),
      Slice{.begin = begin, .step = step, .count = count, .block = block});
}

}  // namespace estimator
