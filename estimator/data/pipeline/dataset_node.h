// What a Dataset is made of, for those who write sources and transforms. Users see dataset.h.
//
// A node describes; an iterator runs. A pipeline over an indexed source (one that can be read at
// any position) moves positions instead of data for as long as it can: shuffles, repeats, takes and
// skips then cost nanoseconds an element and save as a few integers, and a batch gathers its rows
// from the source at once.
#ifndef ESTIMATOR_DATA_PIPELINE_DATASET_NODE_H_
#define ESTIMATOR_DATA_PIPELINE_DATASET_NODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {

// An indexed source. Immutable to the eye; used by several threads at once.
// Indices are in [0, size).
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual int64_t size() const = 0;
  virtual absl::StatusOr<Element> Get(int64_t index) const = 0;
  // Get for each of the indices. Errors: the first in their order.
  virtual absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const;
  // The elements stacked along a new axis 0. REQUIRES: at least one index.
  // Errors: those of GetMany and StackRows.
  virtual absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const;
  // For messages: "record 17 of /data/train.bin".
  virtual std::string Where(int64_t index) const = 0;
  // Reading costs no more than copying bytes, so that a cache gains nothing.
  virtual bool in_memory() const { return false; }
};

class IndexStream;

// Runs one node. Used by one thread at a time; not necessarily always the same.
class NodeIterator {
 public:
  virtual ~NodeIterator() = default;
  // nullopt at the end, and ever after. After an error it is not used again.
  virtual absl::StatusOr<std::optional<Element>> Next() = 0;
  // Passes over `count` elements; returns how many there were.
  virtual absl::StatusOr<int64_t> Skip(int64_t count);
  virtual absl::Status Save(StateWriter& state) const = 0;
  // REQUIRES: called before Next, and the state is of the same node.
  virtual absl::Status Restore(StateReader& state) = 0;
  // Where the element last returned came from, for messages.
  virtual std::string Where() const = 0;
  virtual IndexStream* AsIndexStream() { return nullptr; }
};

// An iterator whose elements are those of a source at some indices.
class IndexStream : public NodeIterator {
 public:
  explicit IndexStream(std::shared_ptr<const RandomAccess> source) : source_(std::move(source)) {}
  virtual absl::StatusOr<std::optional<int64_t>> NextIndex() = 0;
  const std::shared_ptr<const RandomAccess>& source() const { return source_; }

  absl::StatusOr<std::optional<Element>> Next() final;
  absl::StatusOr<int64_t> Skip(int64_t count) override;
  std::string Where() const override { return source_->Where(last_index_); }
  IndexStream* AsIndexStream() final { return this; }

 private:
  std::shared_ptr<const RandomAccess> source_;
  int64_t last_index_ = 0;
};

struct IterationContext {
  // Which pass over the node this is: 0 the first; Repeat derives the others. Keys reshuffling.
  uint64_t epoch_key = 0;
  // The caller moves indices if it can, and reads elements in bulk.
  bool wants_indices = false;
};

// Immutable; shared by Datasets and iterators. Iterators keep their nodes alive.
class DatasetNode : public std::enable_shared_from_this<DatasetNode> {
 public:
  virtual ~DatasetNode() = default;
  // The error of building the pipeline, which MakeIterator of Dataset returns.
  virtual absl::Status status() const { return absl::OkStatus(); }
  // "Shuffle(60000)".
  virtual std::string Label() const = 0;
  virtual std::vector<std::shared_ptr<const DatasetNode>> inputs() const { return {}; }
  virtual int64_t Cardinality() const = 0;  // Dataset::Cardinality
  // Null if the node is not indexed.
  virtual std::shared_ptr<const RandomAccess> random_access() const { return nullptr; }
  // The default runs over random_access() in order.
  virtual absl::StatusOr<std::unique_ptr<NodeIterator>> MakeIterator(
      const IterationContext& context) const;
  // How many shuffles there are in this pipeline: a shuffle without a seed takes its own from that.
  virtual int num_shuffles() const;
};

using NodePtr = std::shared_ptr<const DatasetNode>;

// The labels along the pipeline: "Zip(Idx, Idx) > Map > Batch(8)".
std::string DescribeNode(const DatasetNode& node);

// A node that is no more than an indexed source.
NodePtr IndexedNode(std::string label, std::shared_ptr<const RandomAccess> source);
// A node that only carries an error.
NodePtr ErrorNode(absl::Status status);

// The source in order. State: position.
std::unique_ptr<IndexStream> InOrder(std::shared_ptr<const RandomAccess> source);

// Saves an iterator as nested bytes, and restores it from them.
absl::Status SaveNested(const NodeIterator& iterator, StateWriter& state);
absl::Status RestoreNested(NodeIterator& iterator, StateReader& state);

// The base of an iterator that passes on items of one input: elements, or indices where the input
// is an IndexStream. A subclass is a template <typename Item>, made by MakeTransform.
template <typename Item>
class Transform;

template <>
class Transform<Element> : public NodeIterator {
 public:
  explicit Transform(std::unique_ptr<NodeIterator> input) : input_(std::move(input)) {}
  absl::StatusOr<std::optional<Element>> Next() final { return Produce(); }
  std::string Where() const override { return input_->Where(); }

 protected:
  virtual absl::StatusOr<std::optional<Element>> Produce() = 0;
  absl::StatusOr<std::optional<Element>> Pull() { return input_->Next(); }
  std::unique_ptr<NodeIterator> input_;
};

template <>
class Transform<int64_t> : public IndexStream {
 public:
  explicit Transform(std::unique_ptr<NodeIterator> input)
      : IndexStream(input->AsIndexStream()->source()), input_(std::move(input)) {}
  absl::StatusOr<std::optional<int64_t>> NextIndex() final { return Produce(); }

 protected:
  virtual absl::StatusOr<std::optional<int64_t>> Produce() = 0;
  absl::StatusOr<std::optional<int64_t>> Pull() { return input_->AsIndexStream()->NextIndex(); }
  std::unique_ptr<NodeIterator> input_;
};

template <template <typename> class Iterator, typename... Args>
std::unique_ptr<NodeIterator> MakeTransform(std::unique_ptr<NodeIterator> input, Args... args) {
  if (input->AsIndexStream() != nullptr) {
    return std::make_unique<Iterator<int64_t>>(std::move(input), std::move(args)...);
  }
  return std::make_unique<Iterator<Element>>(std::move(input), std::move(args)...);
}

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_DATASET_NODE_H_
