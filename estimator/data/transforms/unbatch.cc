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
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

// The number of rows of a batch; kUnknownDim if the spec does not tell.
// Errors: INVALID_ARGUMENT if an array is a scalar or if two numbers differ, with both types.
absl::StatusOr<int64_t> CountRows(const ElementSpec& batch) {
  std::string first;
  int64_t rows = Shape::kUnknownDim;
  absl::Status status;
  const auto count = [&](absl::string_view component, const ArraySpec& spec) -> absl::Status {
    const std::string type = absl::StrCat(component, " is ", spec.ToString());
    if (spec.shape->rank() == 0) {
      return InvalidArgument(type,
                             ", a scalar; every array needs one row for each element, on axis 0");
    }
    const int64_t size = spec.shape->dim(0);
    if (size == Shape::kUnknownDim) return absl::OkStatus();
    if (rows != Shape::kUnknownDim && size != rows) {
      return InvalidArgument(type, ", but ", first,
                             "; all arrays need the same number of rows on axis 0");
    }
    first = type;
    rows = size;
    return absl::OkStatus();
  };
  ForEachKind(batch, batch,
              [&](const ArraySpecMap& specs, const ArraySpecMap&, absl::string_view kind) {
                for (const auto& [name, spec] : specs) {
                  if (!spec.shape || !status.ok()) continue;
                  status = count(QuotedComponent(kind, name), spec);
                }
              });
  EST_RETURN_IF_ERROR(status);
  return rows;
}

// State: that of PositionLog, where the current batch was not consumed yet; number of its rows that
// were returned.
class UnbatchIterator final : public TransformIterator {
 public:
  using TransformIterator::TransformIterator;

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
    EST_RETURN_IF_ERROR(log_.Save(*input_, state));
    return SaveFields(state, row_);
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(PositionLog::Restore(*input_, state));
    EST_ASSIGN_OR_RETURN(const int64_t row, state.Int());
    if (row == 0) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const bool more, NextBatch());
    if (!more || row > num_rows_) {
      return InvalidArgument("Unbatch: the saved input position is after row ", row,
                             " of an element, but it has ", num_rows_,
                             ": the input has changed since");
    }
    row_ = row;
    return absl::OkStatus();
  }
  std::string Where() const override { return absl::StrCat("row ", row_ - 1, " of ", where_); }

 private:
  // False at the end of the input.
  absl::StatusOr<bool> NextBatch() {
    // A batch counts as consumed when the next one begins: a position inside of it reads it again.
    if (in_batch_) {
      log_.Consumed();
      in_batch_ = false;
    }
    batch_ = Element();
    row_ = num_rows_ = 0;
    if (ended_) return false;
    EST_ASSIGN_OR_RETURN(std::optional<Element> batch, log_.Read(*input_));
    if (!batch) {
      ended_ = true;
      return false;
    }
    in_batch_ = true;
    where_ = input_->Where();
    absl::StatusOr<int64_t> rows = CountRows(SpecOf(*batch));
    if (rows.ok() && *rows == Shape::kUnknownDim) {
      rows = InvalidArgument("the element has no arrays");
    }
    if (!rows.ok()) return Annotate(rows.status(), absl::StrCat("Unbatch: ", where_));
    num_rows_ = *rows;
    batch_ = *std::move(batch);
    return true;
  }

  PositionLog log_;
  bool ended_ = false;
  bool in_batch_ = false;
  Element batch_;
  int64_t num_rows_ = 0;
  int64_t row_ = 0;
  std::string where_;
};

class Unbatch final : public TransformNode {
 public:
  Unbatch(NodePtr input, std::optional<ElementSpec> spec, int64_t rows)
      : TransformNode(std::move(input)), spec_(std::move(spec)), rows_(rows) {}
  std::string Label() const override { return "Unbatch"; }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  int64_t Cardinality() const override {
    const int64_t batches = input()->Cardinality();
    if (batches <= 0) return batches;
    return rows_ == Shape::kUnknownDim ? -1 : SaturatingMultiply(batches, rows_);
  }
  int64_t ExamplesPerEpoch() const override {
    const int64_t n = Cardinality();
    return n >= 0 ? n : input()->ExamplesPerEpoch();
  }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<UnbatchIterator>(std::move(input));
  }

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
