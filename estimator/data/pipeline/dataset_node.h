// The nodes and iterators of a Dataset, for authors of sources and transforms. Users need only
// dataset.h.
//
// A node describes a step of the pipeline, and an iterator runs it. An indexed source can be read
// at any position. A pipeline over such a source passes on positions instead of elements where it
// can. Then shuffles, repeats, takes and skips cost nanoseconds per element, and their state is a
// few integers. A batch reads all its rows from the source at once.
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
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/data/pipeline/skipped_errors.h"

namespace estimator {

// An indexed source. Its elements do not change. Thread-safe.
// REQUIRES for all functions: indices are in [0, size).
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual int64_t size() const = 0;
  virtual absl::StatusOr<Element> Get(int64_t index) const = 0;
  // The elements at the indices, in order. Errors: the first one in that order.
  virtual absl::StatusOr<std::vector<Element>> GetMany(absl::Span<const int64_t> indices) const;
  // The elements stacked along a new axis 0. REQUIRES: at least one index.
  // Errors: those of GetMany and StackRows.
  virtual absl::StatusOr<Element> Gather(absl::Span<const int64_t> indices) const;
  // The origin of an element, for messages: "record 17 of /data/train.bin".
  virtual std::string Where(int64_t index) const = 0;
  // True if reading costs no more than copying bytes. A cache would then gain nothing.
  virtual bool in_memory() const { return false; }
  // DatasetNode::may_wait.
  virtual bool may_wait() const { return false; }
};

using SourcePtr = std::shared_ptr<const RandomAccess>;

class IndexStream;
class DatasetNode;

using NodePtr = std::shared_ptr<const DatasetNode>;

// Runs one node. Only one thread uses it at a time, but not always the same one.
class NodeIterator {
 public:
  virtual ~NodeIterator() = default;
  // The next element; nullopt at the end and in all later calls. The iterator must not be used
  // after an error.
  virtual absl::StatusOr<std::optional<Element>> Next() = 0;
  // Skips `count` elements. Returns the number skipped, which is less if the input ends.
  virtual absl::StatusOr<int64_t> Skip(int64_t count);
  virtual absl::Status Save(StateWriter& state) const = 0;
  // REQUIRES: Next was not called yet, and the state is from an iterator of the same node.
  virtual absl::Status Restore(StateReader& state) = 0;
  // The origin of the last returned element, for messages.
  virtual std::string Where() const = 0;
  virtual IndexStream* AsIndexStream() { return nullptr; }
};

using IteratorPtr = std::unique_ptr<NodeIterator>;

// An iterator over indices of a source. It can give indices or elements.
class IndexStream : public NodeIterator {
 public:
  explicit IndexStream(SourcePtr source) : source_(std::move(source)) {}
  virtual absl::StatusOr<std::optional<int64_t>> NextIndex() = 0;
  const SourcePtr& source() const { return source_; }

  absl::StatusOr<std::optional<Element>> Next() final;
  absl::StatusOr<int64_t> Skip(int64_t count) override;
  std::string Where() const override { return source_->Where(last_index_); }
  IndexStream* AsIndexStream() final { return this; }

 private:
  SourcePtr source_;
  int64_t last_index_ = 0;
};

// Measures iterators of a pipeline (pipeline_times.h).
class NodeTimer {
 public:
  virtual ~NodeTimer() = default;
  // An iterator that measures the calls of `iterator`, which is of `node`.
  virtual IteratorPtr Measure(const DatasetNode& node, IteratorPtr iterator) = 0;
};

struct IterationContext {
  // Identifies the pass over the node, for reshuffling. It is 0 for the first pass; Repeat derives
  // the keys of the others.
  uint64_t epoch_key = 0;
  // True if the caller can use indices, and then reads many elements at once.
  bool wants_indices = false;
  std::shared_ptr<NodeTimer> timer = nullptr;  // null: nothing is measured
  // Not null before an IgnoreErrors: a node that can continue after a damaged element calls Skip.
  std::shared_ptr<SkippedErrors> errors = nullptr;
};

// A step of a pipeline. Immutable. Datasets and iterators share nodes and keep them alive.
class DatasetNode : public std::enable_shared_from_this<DatasetNode> {
 public:
  virtual ~DatasetNode() = default;
  // The error of building the pipeline, which MakeIterator of Dataset returns.
  virtual absl::Status status() const { return absl::OkStatus(); }
  // The node's name and numbers: "Shuffle(60000)".
  virtual std::string Label() const = 0;
  virtual std::vector<NodePtr> inputs() const { return {}; }
  virtual int64_t Cardinality() const = 0;  // Dataset::Cardinality
  // Dataset::element_spec.
  virtual std::optional<ElementSpec> element_spec() const { return std::nullopt; }
  // Null if the node is not indexed.
  virtual SourcePtr random_access() const { return nullptr; }
  absl::StatusOr<IteratorPtr> MakeIterator(const IterationContext& context) const;
  // The number of random transforms up to this node. One without a seed derives its seed from it.
  virtual int num_seeded() const;
  // Dataset::ExamplesPerEpoch. The default is right for a node that passes on every element of its
  // input once, and for a source whose elements are single examples.
  virtual int64_t ExamplesPerEpoch() const;
  // The input of a Prefetch, which reads ahead in a thread of its own; null for other nodes.
  virtual const DatasetNode* prefetched() const { return nullptr; }
  // True if an element may come from outside at any time, so that reading it may wait for what the
  // program does with the elements before: from a generator of the user, or from a pipe. The
  // default is right for a node that only passes on the elements of its inputs.
  virtual bool may_wait() const;
  // True if the node keeps its elements, so that the nodes before it run in the first pass only.
  virtual bool keeps_elements() const { return false; }
  // The bytes of the files that each pass over the node reads; 0 if it reads none.
  virtual int64_t FileBytes() const { return 0; }
  // What would make the data better or faster, apart from what Dataset::Advice sees itself.
  virtual std::optional<std::string> Advice() const { return std::nullopt; }
  // How to make the node faster if it is the slowest one.
  virtual std::string SpeedAdvice() const { return ""; }

 private:
  // The default iterates over random_access() in order.
  virtual absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const;
};

// The labels along the pipeline: "Zip(Idx, Idx) > Map > Batch(8)".
std::string DescribeNode(const DatasetNode& node);

// A node that only has an indexed source.
NodePtr IndexedNode(std::string label, SourcePtr source,
                    std::optional<ElementSpec> element_spec = std::nullopt);
// A node that only has an error, which Dataset::MakeIterator returns.
NodePtr ErrorNode(absl::Status status);

// Iterates over a source in order. State: the position.
std::unique_ptr<IndexStream> InOrder(SourcePtr source);

// Saves an iterator as nested bytes, and restores it from them.
absl::Status SaveNested(const NodeIterator& iterator, StateWriter& state);
absl::Status RestoreNested(NodeIterator& iterator, StateReader& state);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_DATASET_NODE_H_
