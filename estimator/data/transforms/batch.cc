// Batch. If the input gives indices, all rows of a batch are gathered at once. Otherwise elements
// are stacked as they come.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/batching.h"
#include "estimator/data/transforms/row_stacker.h"

namespace estimator {
namespace {

class BatchedAccess final : public RandomAccess {
 public:
  BatchedAccess(SourcePtr input, Batching batching)
      : input_(std::move(input)), batching_(batching) {}
  int64_t size() const override { return batching_.BatchesOf(input_->size()); }
  absl::StatusOr<Element> Get(int64_t index) const override {
    const int64_t begin = index * batching_.batch_size;
    const int64_t size = std::min(batching_.batch_size, input_->size() - begin);
    std::vector<int64_t> indices(static_cast<size_t>(size));
    std::iota(indices.begin(), indices.end(), begin);
    return input_->Gather(indices);
  }
  std::string Where(int64_t index) const override {
    return absl::StrCat("batch ", index, " (from ", input_->Where(index * batching_.batch_size),
                        ")");
  }

 private:
  SourcePtr input_;
  Batching batching_;
};

// State: batches returned; the state of the input (nested).
class BatchIterator final : public TransformIterator {
 public:
  BatchIterator(IteratorPtr input, Batching batching)
      : TransformIterator(std::move(input)), batching_(batching) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    IndexStream* const stream = input_->AsIndexStream();
    absl::StatusOr<std::optional<Element>> batch =
        stream != nullptr ? GatherNext(stream) : StackNext();
    if (batch.ok() && batch->has_value()) ++returned_;
    return batch;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    EST_ASSIGN_OR_RETURN(const int64_t elements,
                         input_->Skip(SaturatingMultiply(count, batching_.batch_size)));
    const int64_t skipped = batching_.BatchesOf(elements);
    returned_ += skipped;
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, returned_, input_);
  }
  absl::Status Restore(StateReader& state) override {
    return RestoreFields(state, returned_, input_);
  }
  std::string Where() const override { return absl::StrCat("batch ", returned_ - 1); }

 private:
  absl::StatusOr<std::optional<Element>> GatherNext(IndexStream* stream) {
    indices_.clear();  // a member, so that each batch uses the same memory
    while (static_cast<int64_t>(indices_.size()) < batching_.batch_size) {
      EST_ASSIGN_OR_RETURN(const std::optional<int64_t> index, stream->NextIndex());
      if (!index) break;
      indices_.push_back(*index);
    }
    if (batching_.BatchesOf(static_cast<int64_t>(indices_.size())) == 0) return std::nullopt;
    EST_ASSIGN_OR_RETURN(Element batch, stream->source()->Gather(indices_));
    return batch;
  }
  absl::StatusOr<std::optional<Element>> StackNext() {
    RowStacker rows(batching_.batch_size);
    int64_t num_rows = 0;
    for (; num_rows < batching_.batch_size; ++num_rows) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> row, input_->Next());
      if (!row) break;
      rows.Add(num_rows, *std::move(row));
    }
    if (batching_.BatchesOf(num_rows) == 0) return std::nullopt;
    const int64_t first = SaturatingMultiply(returned_, batching_.batch_size);
    EST_ASSIGN_OR_RETURN(Element batch, rows.Finish(num_rows, [first](size_t row) {
      return absl::StrCat("element ", SaturatingAdd(first, static_cast<int64_t>(row)),
                          " of Batch's input");
    }));
    return batch;
  }

  Batching batching_;
  int64_t returned_ = 0;
  std::vector<int64_t> indices_;
};

// The source of the batches, or null if the input is not indexed.
SourcePtr BatchedSource(const DatasetNode& input, Batching batching) {
  SourcePtr source = input.random_access();
  if (source == nullptr) return nullptr;
  return std::make_shared<BatchedAccess>(std::move(source), batching);
}

class Batch final : public BatchingNode {
 public:
  Batch(NodePtr input, Batching batching)
      : BatchingNode("Batch", input, batching, BatchedSource(*input, batching)) {}
  std::optional<ElementSpec> element_spec() const override {
    const std::optional<ElementSpec> row = input()->element_spec();
    return row ? std::optional(batching().SpecOfBatches(*row)) : std::nullopt;
  }

 private:
  void ForInput(IterationContext& context) const override { context.wants_indices = true; }
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<BatchIterator>(std::move(input), batching());
  }
};

}  // namespace

NodePtr BatchNode(NodePtr input, int64_t batch_size, bool drop_remainder) {
  return std::make_shared<Batch>(
      std::move(input), Batching{.batch_size = batch_size, .drop_remainder = drop_remainder});
}

}  // namespace estimator
