// Zip. It merges the arrays of several inputs into one element.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

absl::Status MergeInto(ArrayMap part, size_t index, absl::string_view kind, ArrayMap* merged) {
  for (auto& [name, array] : part) {
    const auto [before, is_new] = merged->emplace(name, array);
    if (is_new) continue;
    return InvalidArgument("Zip: ", QuotedComponent(kind, name), " is in dataset ", index, " (",
                           array.TypeString(), ") and in one before it (",
                           before->second.TypeString(), "); rename one of them in Map");
  }
  return absl::OkStatus();
}

absl::Status LabelsOfTheirOwn(size_t part) {
  return InvalidArgument(
      "Zip(features, labels): the dataset of ", part == 0 ? "features" : "labels",
      " has labels of its own; Zip({a, b}) merges features with features, labels with labels");
}

absl::StatusOr<Element> Merge(std::vector<Element> parts, bool second_is_labels) {
  if (second_is_labels) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].labels.empty()) return LabelsOfTheirOwn(i);
    }
    return Element{.features = std::move(parts[0].features),
                   .labels = std::move(parts[1].features)};
  }
  Element merged = std::move(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    EST_RETURN_IF_ERROR(MergeInto(std::move(parts[i].features), i, "features", &merged.features));
    EST_RETURN_IF_ERROR(MergeInto(std::move(parts[i].labels), i, "labels", &merged.labels));
  }
  return merged;
}

// The components of all parts. Unlike Merge it knows both types, so it runs when the pipeline is
// built, as far as specs are known.
absl::StatusOr<ElementSpec> MergeSpecs(const std::vector<ElementSpec>& parts,
                                       bool second_is_labels) {
  if (second_is_labels) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].labels.empty()) return LabelsOfTheirOwn(i);
    }
    return ElementSpec{.features = parts[0].features, .labels = parts[1].features};
  }
  ElementSpec merged;
  std::map<std::string, size_t> origins;
  absl::Status status;
  for (size_t i = 0; i < parts.size(); ++i) {
    ForEachKind(merged, parts[i],
                [&](ArraySpecMap& all, const ArraySpecMap& part, absl::string_view kind) {
                  for (const auto& [name, spec] : part) {
                    const std::string component = QuotedComponent(kind, name);
                    const auto [origin, is_new] = origins.emplace(component, i);
                    all.emplace(name, spec);
                    if (is_new || !status.ok()) continue;
                    status = InvalidArgument("Zip: ", component, " is in dataset ", origin->second,
                                             " (", all.at(name).ToString(), ") and in dataset ", i,
                                             " (", spec.ToString(), "); rename one of them in Map");
                  }
                });
  }
  EST_RETURN_IF_ERROR(status);
  return merged;
}

class ZippedAccess final : public RandomAccess {
 public:
  ZippedAccess(std::vector<SourcePtr> parts, bool second_is_labels)
      : parts_(std::move(parts)), second_is_labels_(second_is_labels) {
    size_ = parts_[0]->size();
    for (const auto& part : parts_) size_ = std::min(size_, part->size());
  }
  int64_t size() const override { return size_; }
  absl::StatusOr<Element> Get(int64_t index) const override {
    return Merged([index](const RandomAccess& part) { return part.Get(index); });
  }
  absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const override {
    std::vector<std::vector<Element>> columns;
    for (const auto& part : parts_) {
      EST_ASSIGN_OR_RETURN(std::vector<Element> column, part->GetMany(indices));
      columns.push_back(std::move(column));
    }
    std::vector<Element> rows;
    for (size_t row = 0; row < indices.size(); ++row) {
      std::vector<Element> parts;
      for (std::vector<Element>& column : columns) parts.push_back(std::move(column[row]));
      EST_ASSIGN_OR_RETURN(Element merged, Merge(std::move(parts), second_is_labels_));
      rows.push_back(std::move(merged));
    }
    return rows;
  }
  absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const override {
    return Merged([indices](const RandomAccess& part) { return part.Gather(indices); });
  }
  std::string Where(int64_t index) const override { return parts_[0]->Where(index); }
  bool in_memory() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->in_memory(); });
  }

 private:
  template <typename Read>
  absl::StatusOr<Element> Merged(const Read& read) const {
    std::vector<Element> elements;
    for (const auto& part : parts_) {
      EST_ASSIGN_OR_RETURN(Element element, read(*part));
      elements.push_back(std::move(element));
    }
    return Merge(std::move(elements), second_is_labels_);
  }

  std::vector<SourcePtr> parts_;
  bool second_is_labels_;
  int64_t size_;
};

// State: whether it ended; the states of the inputs (nested). At the end, the inputs before the
// shortest one have read one element more. That has no effect.
class ZipIterator final : public NodeIterator {
 public:
  ZipIterator(std::vector<IteratorPtr> parts, bool second_is_labels)
      : parts_(std::move(parts)), second_is_labels_(second_is_labels) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    if (ended_) return std::nullopt;
    std::vector<Element> elements;
    for (const auto& part : parts_) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, part->Next());
      if (!element) {
        ended_ = true;
        return std::nullopt;
      }
      elements.push_back(*std::move(element));
    }
    EST_ASSIGN_OR_RETURN(Element merged, Merge(std::move(elements), second_is_labels_));
    return merged;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t least = count;
    for (const auto& part : parts_) {
      EST_ASSIGN_OR_RETURN(const int64_t skipped, part->Skip(count));
      least = std::min(least, skipped);
    }
    if (least < count) ended_ = true;
    return least;
  }
  absl::Status Save(StateWriter& state) const override { return SaveFields(state, ended_, parts_); }
  absl::Status Restore(StateReader& state) override { return RestoreFields(state, ended_, parts_); }
  std::string Where() const override { return parts_[0]->Where(); }

 private:
  std::vector<IteratorPtr> parts_;
  bool second_is_labels_;
  bool ended_ = false;
};

class Zip final : public JoinNode {
 public:
  Zip(const std::vector<NodePtr>& parts, bool second_is_labels, std::optional<ElementSpec> spec)
      : JoinNode(parts, std::move(spec), JoinedSource<ZippedAccess>(parts, second_is_labels)),
        second_is_labels_(second_is_labels) {}
  std::string Label() const override { return "Zip"; }
  int64_t Cardinality() const override {
    int64_t least = Dataset::kInfinite;
    for (const NodePtr& part : parts()) {
      const int64_t n = part->Cardinality();
      if (n == -1) return -1;
      if (n >= 0 && (least == Dataset::kInfinite || n < least)) least = n;
    }
    return least;
  }
  int64_t ExamplesPerEpoch() const override {
    int64_t least = -1;
    for (const NodePtr& part : parts()) {
      const int64_t n = part->ExamplesPerEpoch();
      if (n >= 0 && (least < 0 || n < least)) least = n;
    }
    return least;
  }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    if (random_access() != nullptr) return InOrder(random_access());
    IterationContext inner = context;
    inner.errors = nullptr;  // a part that skips elements would be paired wrongly
    EST_ASSIGN_OR_RETURN(std::vector<IteratorPtr> iterators, MakeIterators(inner));
    return std::make_unique<ZipIterator>(std::move(iterators), second_is_labels_);
  }

 private:
  bool second_is_labels_;
};

}  // namespace

NodePtr ZipNode(std::vector<NodePtr> parts, bool second_is_labels) {
  if (parts.empty()) return ErrorNode(InvalidArgument("Zip: there are no datasets"));
  std::vector<ElementSpec> specs;
  for (const NodePtr& part : parts) {
    if (std::optional<ElementSpec> spec = part->element_spec()) specs.push_back(*std::move(spec));
  }
  std::optional<ElementSpec> spec;
  if (specs.size() == parts.size()) {
    absl::StatusOr<ElementSpec> merged = MergeSpecs(specs, second_is_labels);
    if (!merged.ok()) return ErrorNode(merged.status());
    spec = *std::move(merged);
  }
  return std::make_shared<Zip>(parts, second_is_labels, std::move(spec));
}

}  // namespace estimator
