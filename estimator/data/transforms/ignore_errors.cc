// IgnoreErrors. The sources and transforms before it skip their damaged elements themselves: they
// get the counter in their IterationContext. An error that reaches this node has ended them.
#include <memory>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/skipped_errors.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

// State: that of SkippedErrors; the state of the input (nested).
template <typename Item>
class SkippingIterator final : public Transform<Item> {
 public:
  // errors: null for IgnoreErrors(0), which skips nothing. Its state is that of no skipped errors,
  // so that a run can continue with a limit. What earlier runs skipped is forgotten.
  SkippingIterator(IteratorPtr input, std::shared_ptr<SkippedErrors> errors)
      : Transform<Item>(std::move(input)), errors_(std::move(errors)) {}
  absl::StatusOr<int64_t> Skip(int64_t count) override { return this->input_->Skip(count); }
  absl::Status Save(StateWriter& state) const override {
    errors_ == nullptr ? SkippedErrors(1).Save(state) : errors_->Save(state);
    return SaveNested(*this->input_, state);
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(errors_ == nullptr ? SkippedErrors(1).Restore(state)
                                           : errors_->Restore(state));
    return RestoreNested(*this->input_, state);
  }

 protected:
  absl::StatusOr<std::optional<Item>> Produce() override { return this->Pull(); }

 private:
  std::shared_ptr<SkippedErrors> errors_;
};

class IgnoreErrors final : public TransformNode {
 public:
  IgnoreErrors(NodePtr input, int64_t max_errors)
      : TransformNode(std::move(input)), max_errors_(max_errors) {}
  std::string Label() const override { return "IgnoreErrors"; }
  int64_t Cardinality() const override {
    const int64_t n = input()->Cardinality();
    return max_errors_ > 0 && n > 0 ? -1 : n;
  }
  // Without the damaged elements, whose number is not known.
  int64_t ExamplesPerEpoch() const override { return input()->ExamplesPerEpoch(); }

 private:
  void ForInput(IterationContext& context) const override {
    if (max_errors_ == 0) return;
    context.wants_indices = false;
    context.errors = std::make_shared<SkippedErrors>(max_errors_);
  }
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input,
                                   const IterationContext& context) const override {
    return MakeTransform<SkippingIterator>(std::move(input),
                                           max_errors_ == 0 ? nullptr : context.errors);
  }

  int64_t max_errors_;
};

}  // namespace

NodePtr IgnoreErrorsNode(NodePtr input, int64_t max_errors) {
  return std::make_shared<IgnoreErrors>(std::move(input), max_errors);
}

}  // namespace estimator
