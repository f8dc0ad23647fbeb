// PaddedBatch. It pads arrays of different sizes at the end of each axis and stacks them.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/transforms/batching.h"
#include "estimator/data/transforms/pad_rows.h"

namespace estimator {
namespace {

// State: elements returned in batches; the state of the input (nested).
class PaddedBatchIterator final : public TransformIterator {
 public:
  PaddedBatchIterator(IteratorPtr input, Batching batching, const PaddedBatchOptions& options)
      : TransformIterator(std::move(input)), batching_(batching), options_(options) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    std::vector<Element> rows;
    while (static_cast<int64_t>(rows.size()) < batching_.batch_size) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> row, input_->Next());
      if (!row) break;
      rows.push_back(*std::move(row));
    }
    const auto num_rows = static_cast<int64_t>(rows.size());
    if (batching_.BatchesOf(num_rows) == 0) return std::nullopt;
    absl::StatusOr<Element> batch = PadRows(rows, options_, [this](size_t row) {
      return absl::StrCat("element ", returned_ + static_cast<int64_t>(row));
    });
    if (!batch.ok()) return Annotate(batch.status(), "PaddedBatch");
    returned_ += num_rows;
    return *std::move(batch);
  }
  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, returned_, input_);
  }
  absl::Status Restore(StateReader& state) override {
    return RestoreFields(state, returned_, input_);
  }
  std::string Where() const override {
    return absl::StrCat("the padded batch before element ", returned_);
  }

 private:
  Batching batching_;
  PaddedBatchOptions options_;
  int64_t returned_ = 0;
};

class PaddedBatch final : public BatchingNode {
 public:
  PaddedBatch(NodePtr input, Batching batching, PaddedBatchOptions options,
              std::optional<ElementSpec> spec)
      : BatchingNode("PaddedBatch", std::move(input), batching),
        options_(std::move(options)),
        spec_(std::move(spec)) {}
  std::optional<ElementSpec> element_spec() const override { return spec_; }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<PaddedBatchIterator>(std::move(input), batching(), options_);
  }

  PaddedBatchOptions options_;
  std::optional<ElementSpec> spec_;
};

}  // namespace

NodePtr PaddedBatchNode(NodePtr input, int64_t batch_size, PaddedBatchOptions options) {
  const Batching batching = {.batch_size = batch_size, .drop_remainder = options.drop_remainder};
  std::optional<ElementSpec> spec = input->element_spec();
  if (spec) {
    const absl::StatusOr<ElementSpec> padded = PaddedSpec(*spec, options);
    if (!padded.ok()) return ErrorNode(Annotate(padded.status(), "PaddedBatch"));
    spec = batching.SpecOfBatches(*padded);
  }
  return std::make_shared<PaddedBatch>(std::move(input), batching, std::move(options),
                                       std::move(spec));
}

}  // namespace estimator
