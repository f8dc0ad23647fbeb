#include "estimator/data/pipeline/dataset_node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/rows.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

class InOrderStream final : public IndexStream {
 public:
  using IndexStream::IndexStream;

  absl::StatusOr<std::optional<int64_t>> NextIndex() override {
    if (position_ >= source()->size()) return std::nullopt;
    return position_++;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    const int64_t skipped = std::min(count, source()->size() - position_);
    position_ += skipped;
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override { return SaveFields(state, position_); }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(const int64_t position, state.Int());
    if (position < 0 || position > source()->size()) {
      return InvalidArgument("the saved input position is element ", position,
                             ", but the source has only ", source()->size(), " elements now");
    }
    position_ = position;
    return absl::OkStatus();
  }

 private:
  int64_t position_ = 0;
};

class SourceNode final : public DatasetNode {
 public:
  SourceNode(std::string label, SourcePtr source, std::optional<ElementSpec> element_spec)
      : label_(std::move(label)), source_(std::move(source)), spec_(std::move(element_spec)) {}
  std::string Label() const override { return label_; }
  int64_t Cardinality() const override { return source_->size(); }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  SourcePtr random_access() const override { return source_; }
  bool may_wait() const override { return source_->may_wait(); }

 private:
  std::string label_;
  SourcePtr source_;
  std::optional<ElementSpec> spec_;
};

class FailedNode final : public DatasetNode {
 public:
  explicit FailedNode(absl::Status status) : status_(std::move(status)) {}
  absl::Status status() const override { return status_; }
  std::string Label() const override { return "Error"; }
  int64_t Cardinality() const override { return 0; }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext&) const override {
    return status_;
  }

 private:
  absl::Status status_;
};

// The elements of an index stream without the damaged ones. State: that of the stream.
class SkippingElements final : public NodeIterator {
 public:
  SkippingElements(IteratorPtr stream, std::shared_ptr<SkippedErrors> errors)
      : stream_(std::move(stream)), errors_(std::move(errors)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      EST_ASSIGN_OR_RETURN(const std::optional<int64_t> index,
                           stream_->AsIndexStream()->NextIndex());
      if (!index) return std::nullopt;
      const RandomAccess& source = *stream_->AsIndexStream()->source();
      where_ = source.Where(*index);
      absl::StatusOr<Element> element = source.Get(*index);
      if (element.ok()) return *std::move(element);
      EST_RETURN_IF_ERROR(errors_->Skip(element.status(), where_));
    }
  }
  absl::Status Save(StateWriter& state) const override { return stream_->Save(state); }
  absl::Status Restore(StateReader& state) override { return stream_->Restore(state); }
  std::string Where() const override { return where_; }

 private:
  IteratorPtr stream_;
  std::shared_ptr<SkippedErrors> errors_;
  std::string where_;
};

}  // namespace

absl::StatusOr<std::vector<Element>> RandomAccess::GetMany(
    absl::Span<const int64_t> indices) const {
  std::vector<Element> elements;
  elements.reserve(indices.size());
  for (const int64_t index : indices) {
    EST_ASSIGN_OR_RETURN(Element element, Get(index));
    elements.push_back(std::move(element));
  }
  return elements;
}

absl::StatusOr<Element> RandomAccess::Gather(absl::Span<const int64_t> indices) const {
  EST_ASSIGN_OR_RETURN(const std::vector<Element> elements, GetMany(indices));
  return StackRows(elements, [&](size_t row) { return Where(indices[row]); });
}

absl::StatusOr<int64_t> NodeIterator::Skip(int64_t count) {
  for (int64_t skipped = 0; skipped < count; ++skipped) {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, Next());
    if (!element) return skipped;
  }
  return count;
}

absl::StatusOr<std::optional<Element>> IndexStream::Next() {
  EST_ASSIGN_OR_RETURN(const std::optional<int64_t> index, NextIndex());
  if (!index) return std::nullopt;
  last_index_ = *index;
  EST_ASSIGN_OR_RETURN(Element element, source_->Get(*index));
  return element;
}

absl::StatusOr<int64_t> IndexStream::Skip(int64_t count) {
  for (int64_t skipped = 0; skipped < count; ++skipped) {
    EST_ASSIGN_OR_RETURN(const std::optional<int64_t> index, NextIndex());
    if (!index) return skipped;
  }
  return count;
}

absl::StatusOr<IteratorPtr> DatasetNode::MakeIterator(const IterationContext& context) const {
  EST_ASSIGN_OR_RETURN(IteratorPtr iterator, NewIterator(context));
  if (context.errors != nullptr && !context.wants_indices && iterator->AsIndexStream() != nullptr)
    iterator = std::make_unique<SkippingElements>(std::move(iterator), context.errors);
  if (context.timer == nullptr || iterator->AsIndexStream() != nullptr) return iterator;
  return context.timer->Measure(*this, std::move(iterator));
}

absl::StatusOr<IteratorPtr> DatasetNode::NewIterator(const IterationContext&) const {
  return InOrder(random_access());
}

int64_t DatasetNode::ExamplesPerEpoch() const {
  const std::vector<NodePtr> nodes = inputs();
  const int64_t n = Cardinality();
  if (nodes.empty()) return std::max<int64_t>(n, -1);
  return nodes.size() == 1 && nodes[0]->Cardinality() == n ? nodes[0]->ExamplesPerEpoch() : -1;
}

int DatasetNode::num_seeded() const {
  int count = 0;
  for (const NodePtr& input : inputs()) count += input->num_seeded();
  return count;
}

bool DatasetNode::may_wait() const {
  const std::vector<NodePtr> nodes = inputs();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const NodePtr& input) { return input->may_wait(); });
}

std::string DescribeNode(const DatasetNode& node) {
  const std::vector<NodePtr> inputs = node.inputs();
  if (inputs.empty()) return node.Label();
  if (inputs.size() == 1) return absl::StrCat(DescribeNode(*inputs[0]), " > ", node.Label());
  const auto describe = [](std::string* out, const NodePtr& input) {
    out->append(DescribeNode(*input));
  };
  return absl::StrCat(node.Label(), "(", absl::StrJoin(inputs, ", ", describe), ")");
}

NodePtr IndexedNode(std::string label, SourcePtr source, std::optional<ElementSpec> element_spec) {
  return std::make_shared<SourceNode>(std::move(label), std::move(source), std::move(element_spec));
}

NodePtr ErrorNode(absl::Status status) { return std::make_shared<FailedNode>(std::move(status)); }

std::unique_ptr<IndexStream> InOrder(SourcePtr source) {
  return std::make_unique<InOrderStream>(std::move(source));
}

absl::Status SaveNested(const NodeIterator& iterator, StateWriter& state) {
  StateWriter nested;
  EST_RETURN_IF_ERROR(iterator.Save(nested));
  state.Bytes(nested.bytes());
  return absl::OkStatus();
}

absl::Status RestoreNested(NodeIterator& iterator, StateReader& state) {
  EST_ASSIGN_OR_RETURN(const absl::string_view bytes, state.Bytes());
  StateReader nested(bytes);
  return iterator.Restore(nested);
}

}  // namespace estimator
