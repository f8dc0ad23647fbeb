// The bases of transforms: of the nodes that describe them, of the iterators that run them, and of
// what iterators save. dataset_node.h explains both.
#ifndef ESTIMATOR_DATA_PIPELINE_TRANSFORM_H_
#define ESTIMATOR_DATA_PIPELINE_TRANSFORM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/dataset_node.h"

namespace estimator {

// A node with one input. The defaults are right for a transform that passes on every element.
class TransformNode : public DatasetNode {
 public:
  //   source: the elements, if the node is indexed. They are then read in order, and Over is not
  //   called.
  explicit TransformNode(NodePtr input, SourcePtr source = nullptr)
      : input_(std::move(input)), source_(std::move(source)) {}
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return input_->element_spec(); }
  SourcePtr random_access() const override { return source_; }
  int64_t Cardinality() const override { return input_->Cardinality(); }

 protected:
  const NodePtr& input() const { return input_; }
  // Changes the context of this node to that of its input. By default the input gives elements.
  virtual void ForInput(IterationContext& context) const { context.wants_indices = false; }
  // The iterator over this node.
  //   input: an iterator over the input.  context: of the input, which ForInput has changed.
  virtual absl::StatusOr<IteratorPtr> Over(IteratorPtr input,
                                           const IterationContext& context) const = 0;
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override;

 private:
  const NodePtr input_;
  const SourcePtr source_;
};

// A node with several inputs.
class JoinNode : public DatasetNode {
 public:
  //   spec: of the elements, if it is known.  source: the elements, if the node is indexed.
  JoinNode(std::vector<NodePtr> parts, std::optional<ElementSpec> spec, SourcePtr source = nullptr)
      : parts_(std::move(parts)), spec_(std::move(spec)), source_(std::move(source)) {}
  std::vector<NodePtr> inputs() const override { return parts_; }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  SourcePtr random_access() const override { return source_; }

 protected:
  const std::vector<NodePtr>& parts() const { return parts_; }
  // The number of elements of all parts together.
  int64_t SumOfCardinalities() const;
  // An iterator over the elements of each part.
  absl::StatusOr<std::vector<IteratorPtr>> MakeIterators(IterationContext context) const;

 private:
  const std::vector<NodePtr> parts_;
  const std::optional<ElementSpec> spec_;
  const SourcePtr source_;
};

// An iterator over the dataset that a user's function made of an element or a window.
//   node: the result of the function.  outer: the context of the node that called it.
//   ordinal: the number of the element or window, from which the epoch key is derived.
//   where: the name of the element or window, which begins an error.
absl::StatusOr<IteratorPtr> MakeInnerIterator(const absl::StatusOr<NodePtr>& node,
                                              const IterationContext& outer, uint64_t ordinal,
                                              absl::string_view where);

// The source Access(sources of all parts, args...), or null if one of the parts is not indexed.
template <typename Access, typename... Args>
SourcePtr JoinedSource(const std::vector<NodePtr>& parts, const Args&... args) {
  std::vector<SourcePtr> sources;
  for (const NodePtr& part : parts) {
    sources.push_back(part->random_access());
    if (sources.back() == nullptr) return nullptr;
  }
  return std::make_shared<Access>(std::move(sources), args...);
}

// An iterator over elements of one input.
class TransformIterator : public NodeIterator {
 public:
  explicit TransformIterator(IteratorPtr input) : input_(std::move(input)) {}
  std::string Where() const override { return input_->Where(); }

 protected:
  IteratorPtr input_;
};

// The base of an iterator that passes on items of one input. Items are indices if the input is an
// IndexStream, and elements otherwise. A subclass is a template <typename Item>; MakeTransform
// creates it for the right kind of item.
template <typename Item>
class Transform;

template <>
class Transform<Element> : public TransformIterator {
 public:
  using TransformIterator::TransformIterator;
  absl::StatusOr<std::optional<Element>> Next() final { return Produce(); }

 protected:
  virtual absl::StatusOr<std::optional<Element>> Produce() = 0;
  absl::StatusOr<std::optional<Element>> Pull() { return input_->Next(); }
};

template <>
class Transform<int64_t> : public IndexStream {
 public:
  explicit Transform(IteratorPtr input)
      : IndexStream(input->AsIndexStream()->source()), input_(std::move(input)) {}
  absl::StatusOr<std::optional<int64_t>> NextIndex() final { return Produce(); }

 protected:
  virtual absl::StatusOr<std::optional<int64_t>> Produce() = 0;
  absl::StatusOr<std::optional<int64_t>> Pull() { return input_->AsIndexStream()->NextIndex(); }
  IteratorPtr input_;
};

template <template <typename> class Iterator, typename... Args>
IteratorPtr MakeTransform(IteratorPtr input, Args... args) {
  if (input->AsIndexStream() != nullptr) {
    return std::make_unique<Iterator<int64_t>>(std::move(input), std::move(args)...);
  }
  return std::make_unique<Iterator<Element>>(std::move(input), std::move(args)...);
}

// One field of a saved state: a number, a bool, or an iterator or several, each nested.
template <typename Field>
absl::Status SaveField(StateWriter& state, const Field& field) {
  if constexpr (requires { field->Save(state); }) {
    return SaveNested(*field, state);
  } else if constexpr (requires { field.begin(); }) {
    for (const auto& part : field) EST_RETURN_IF_ERROR(SaveField(state, part));
  } else {
    state.Int(static_cast<uint64_t>(field));  // a bool is 0 or 1
  }
  return absl::OkStatus();
}
template <typename Field>
absl::Status RestoreField(StateReader& state, Field& field) {
  if constexpr (requires { field->Restore(state); }) {
    return RestoreNested(*field, state);
  } else if constexpr (requires { field.begin(); }) {
    for (auto& part : field) EST_RETURN_IF_ERROR(RestoreField(state, part));
  } else if constexpr (std::is_same_v<Field, bool>) {
    EST_ASSIGN_OR_RETURN(field, state.Bool());
  } else if constexpr (std::is_unsigned_v<Field>) {
    EST_ASSIGN_OR_RETURN(field, state.Unsigned());
  } else {
    EST_ASSIGN_OR_RETURN(field, state.Int());
  }
  return absl::OkStatus();
}

// Saves the fields in order, and restores them. Both functions of an iterator list the same fields:
//   Save:    return SaveFields(state, position_, ended_, input_);
//   Restore: return RestoreFields(state, position_, ended_, input_);
template <typename... Fields>
absl::Status SaveFields(StateWriter& state, const Fields&... fields) {
  absl::Status status;
  (void)((status = SaveField(state, fields), status.ok()) && ...);
  return status;
}
template <typename... Fields>
absl::Status RestoreFields(StateReader& state, Fields&... fields) {
  absl::Status status;
  (void)((status = RestoreField(state, fields), status.ok()) && ...);
  return status;
}

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_TRANSFORM_H_
