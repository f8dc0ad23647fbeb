// Unbatch. Each row of axis 0 of an element of the input becomes an element.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/rows.h"

namespace estimator {
namespace {

// The number of rows of a batch.
// Errors: INVALID_ARGUMENT if an array is a scalar or if two numbers differ, with both types.
absl::StatusOr<int64_t> CountRows(const Element& batch) {
  std::string first;
  int64_t rows = 0;
  for (const auto member : {&Element::features, &Element::labels}) {
    for (const auto& [name, array] : batch.*member) {
      const std::string type = absl::StrCat(QuotedArray(member, name), " is ", array.TypeString());
      if (array.shape().rank() == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            type, ", a scalar; every array needs one row for each element, on axis 0"));
      }
      if (!first.empty() && array.shape()[0] != rows) {
        return absl::InvalidArgumentError(absl::StrCat(
            type, ", but ", first, "; all arrays need the same number of rows on axis 0"));
      }
      first = type;
      rows = array.shape()[0];
    }
  }
  if (first.empty()) return absl::InvalidArgumentError("the element has no arrays");
  return rows;
}

// The same for the spec of the batches; kUnknownDim if it does not tell.
absl::StatusOr<int64_t> CountRows(const ElementSpec& batch) {
  std::string first;
  int64_t rows = Shape::kUnknownDim;
  absl::Status status;
  ForEachKind(
      batch, batch, [&](const ArraySpecMap& specs, const ArraySpecMap&, absl::string_view kind) {
        for (const auto& [name, spec] : specs) {
          if (!spec.shape || !status.ok()) continue;
          const std::string type =
              absl::StrCat(QuotedComponent(kind, name), " is ", spec.ToString());
          if (spec.shape->rank() == 0) {
            status = absl::InvalidArgumentError(absl::StrCat(
                type, ", a scalar; every array needs one row for each element, on axis 0"));
            continue;
          }
          const int64_t size = spec.shape->dim(0);
          if (size == Shape::kUnknownDim) continue;
          if (rows != Shape::kUnknownDim && size != rows) {
            status = absl::InvalidArgumentError(absl::StrCat(
                type, ", but ", first, "; all arrays need the same number of rows on axis 0"));
            continue;
          }
          first = type;
          rows = size;
        }
      });
  EST_RETURN_IF_ERROR(status);
  return rows;
}

// State: that of PositionLog, where the current batch was not consumed yet; number of its rows that
// were returned.
class UnbatchIterator final : public NodeIterator {
 public:
  explicit UnbatchIterator(std::unique_ptr<NodeIterator> input) : input_(std::move(input)) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (row_ >= num_rows_) {
      EST_ASSIGN_OR_RETURN(const bool more, NextBatch());
      if (!more) return std::nullopt;
    }
    return RowOf(batch_, row_++);
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    while (true) {
      const int64_t step = std::min(count - skipped, num_rows_ - row_);
      row_ += step;
      skipped += step;
      if (skipped == count) return skipped;
      EST_ASSIGN_OR_RETURN(const bool more, NextBatch());
      if (!more) return skipped;
    }
  }
  absl::Status Save(StateWriter& state) const override {
    if (!started_) {
      EST_RETURN_IF_ERROR(PositionLog::SaveCurrent(*input_, state));
    } else {
      log_.Save(state);
    }
    state.Int(row_);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(PositionLog::Restore(*input_, state));
    EST_ASSIGN_OR_RETURN(const int64_t row, state.Int());
    if (row == 0) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const bool more, NextBatch());
    if (!more || row > num_rows_) {
      return absl::InvalidArgumentError(
          absl::StrCat("Unbatch: the saved input position is after row ", row,
                       " of an element, but it has ", num_rows_, ": the input has changed since"));
    }
    row_ = row;
    return absl::OkStatus();
  }
  std::string Where() const override { return absl::StrCat("row ", row_ - 1, " of ", where_); }

 private:
  // False at the end of the input.
  absl::StatusOr<bool> NextBatch() {
    if (in_batch_) {
      log_.Consumed();
      in_batch_ = false;
    }
    batch_ = Element();
    row_ = num_rows_ = 0;
    if (ended_) return false;
    std::string input_state;
    if (log_.WantsState()) {
      EST_ASSIGN_OR_RETURN(input_state, PositionLog::StateOf(*input_));
    }
    log_.BeforeRead(std::move(input_state));
    started_ = true;
    EST_ASSIGN_OR_RETURN(std::optional<Element> batch, input_->Next());
    if (!batch) {
      ended_ = true;
      return false;
    }
    in_batch_ = true;
    where_ = input_->Where();
    const absl::StatusOr<int64_t> rows = CountRows(*batch);
    if (!rows.ok()) return Annotate(rows.status(), absl::StrCat("Unbatch: ", where_));
    num_rows_ = *rows;
    batch_ = *std::move(batch);
    return true;
  }

  std::unique_ptr<NodeIterator> input_;
  PositionLog log_;
  bool started_ = false;  // log_ has a state
  bool ended_ = false;
  bool in_batch_ = false;
  Element batch_;
  int64_t num_rows_ = 0;
  int64_t row_ = 0;
  std::string where_;
};

class Unbatch final : public DatasetNode {
 public:
  Unbatch(NodePtr input, std::optional<ElementSpec> spec, int64_t rows)
      : input_(std::move(input)), spec_(std::move(spec)), rows_(rows) {}
  std::string Label() const override { return "Unbatch"; }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  int64_t Cardinality() const override {
    const int64_t batches = input_->Cardinality();
    if (batches <= 0) return batches;
    return rows_ == Shape::kUnknownDim ? -1 : SaturatingMultiply(batches, rows_);
  }
  int64_t ExamplesPerEpoch() const override {
    const int64_t n = Cardinality();
    return n >= 0 ? n : input_->ExamplesPerEpoch();
  }
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    IterationContext inner = context;
    inner.wants_indices = false;
    EST_ASSIGN_OR_RETURN(std::unique_ptr<NodeIterator> input, input_->MakeIterator(inner));
    return std::make_unique<UnbatchIterator>(std::move(input));
  }

 private:
  NodePtr input_;
  std::optional<ElementSpec> spec_;
  int64_t rows_;  // of each element of the input; kUnknownDim if not known
};

}  // namespace

NodePtr UnbatchNode(NodePtr input) {
  std::optional<ElementSpec> spec = input->element_spec();
  int64_t rows = Shape::kUnknownDim;
  if (spec) {
    const absl::StatusOr<int64_t> known = CountRows(*spec);
    if (!known.ok()) return ErrorNode(Annotate(known.status(), "Unbatch"));
    rows = *known;
    spec = WithoutBatchAxis(*spec);
  }
  return std::make_shared<Unbatch>(std::move(input), std::move(spec), rows);
}

}  // namespace estimator
