// Concatenate. The elements of one input follow those of the one before.
#include <algorithm>
#include <memory>
#include <utility>

#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/joined_spec.h"

namespace estimator {
namespace {

class ConcatenatedAccess final : public RandomAccess {
 public:
  ConcatenatedAccess(std::vector<SourcePtr> parts, JoinedSpec spec)
      : parts_(std::move(parts)), spec_(std::move(spec)) {
    for (const auto& part : parts_) {
      begins_.push_back(size_);
      size_ = SaturatingAdd(size_, part->size());
    }
  }
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override {
    const size_t part = PartOf(index);
    EST_ASSIGN_OR_RETURN(Element element, parts_[part]->Get(index - begins_[part]));
    EST_RETURN_IF_ERROR(spec_.Check(element, [&] { return Where(index); }));
    return element;
  }
  std::string Where(int64_t index) const override {
    const size_t part = PartOf(index);
    return parts_[part]->Where(index - begins_[part]);
  }

 private:
  size_t PartOf(int64_t index) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), index);
    return static_cast<size_t>(after - begins_.begin()) - 1;
  }
  std::vector<SourcePtr> parts_;
  JoinedSpec spec_;
  std::vector<int64_t> begins_;
  int64_t size_ = 0;
};

// State: the number of the part; the state of the part (nested).
class ConcatenateIterator final : public NodeIterator {
 public:
  ConcatenateIterator(std::vector<NodePtr> parts, JoinedSpec spec, IterationContext context)
      : parts_(std::move(parts)), spec_(std::move(spec)), context_(context) {}
  absl::Status Begin(size_t part) {
    part_ = part;
    EST_ASSIGN_OR_RETURN(current_, parts_[part]->MakeIterator(context_));
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, current_->Next());
      if (element) {
        EST_RETURN_IF_ERROR(spec_.Check(*element, [this] { return current_->Where(); }));
        return element;
      }
      if (part_ + 1 == parts_.size()) return std::nullopt;
      EST_RETURN_IF_ERROR(Begin(part_ + 1));
    }
  }
  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, part_, current_);
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(const uint64_t part, state.Unsigned());
    if (part >= parts_.size()) {
      return DataLoss("Concatenate: the saved input position is in dataset ", part,
                      ", but there are only ", parts_.size());
    }
    EST_RETURN_IF_ERROR(Begin(part));
    return RestoreNested(*current_, state);
  }
  std::string Where() const override { return current_->Where(); }

 private:
  std::vector<NodePtr> parts_;
  JoinedSpec spec_;
  IterationContext context_;
  size_t part_ = 0;
  IteratorPtr current_;
};

class ConcatenatedNode final : public JoinNode {
 public:
  ConcatenatedNode(const std::vector<NodePtr>& parts, const JoinedSpec& spec)
      : JoinNode(parts, spec.spec(), JoinedSource<ConcatenatedAccess>(parts, spec)), spec_(spec) {}
  std::string Label() const override { return "Concatenate"; }
  int64_t Cardinality() const override { return SumOfCardinalities(); }
  int64_t ExamplesPerEpoch() const override {
    int64_t sum = 0;
    for (const NodePtr& part : parts()) {
      const int64_t n = part->ExamplesPerEpoch();
      if (n < 0) return -1;
      sum = SaturatingAdd(sum, n);
    }
    return sum;
  }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    if (random_access() != nullptr) return InOrder(random_access());
    IterationContext inner = context;
    inner.wants_indices = false;
    auto iterator = std::make_unique<ConcatenateIterator>(parts(), spec_, inner);
    EST_RETURN_IF_ERROR(iterator->Begin(0));
    return iterator;
  }

 private:
  JoinedSpec spec_;
};

}  // namespace

NodePtr ConcatenateNode(std::vector<NodePtr> parts) {
  absl::StatusOr<JoinedSpec> spec = JoinedSpec::Of("Concatenate", parts);
  if (!spec.ok()) return ErrorNode(spec.status());
  return std::make_shared<ConcatenatedNode>(parts, *spec);
}

}  // namespace estimator
