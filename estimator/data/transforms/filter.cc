// Filter. It keeps the elements for which a function returns true.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/user_function.h"

namespace estimator {
namespace {

// State: the state of the input.
class FilterIterator final : public NodeIterator {
 public:
  FilterIterator(std::unique_ptr<NodeIterator> input, FilterFn fn,
                 std::shared_ptr<SkippedErrors> errors)
      : input_(std::move(input)), fn_(std::move(fn)), errors_(std::move(errors)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) return std::nullopt;
      const absl::StatusOr<bool> keep = CallUserFunction(fn_, *element);
      if (!keep.ok()) {
        const std::string where = input_->Where();
        const absl::Status error = Annotate(keep.status(), absl::StrCat("Filter: ", where));
        if (errors_ == nullptr) return error;
        EST_RETURN_IF_ERROR(errors_->Skip(error, where));
      } else if (*keep) {
        return element;
      }
    }
  }
  absl::Status Save(StateWriter& state) const override { return input_->Save(state); }
  absl::Status Restore(StateReader& state) override { return input_->Restore(state); }
  std::string Where() const override { return input_->Where(); }

 private:
  std::unique_ptr<NodeIterator> input_;
  FilterFn fn_;
  std::shared_ptr<SkippedErrors> errors_;  // null: no element is skipped
};

class Filter final : public DatasetNode {
 public:
  Filter(NodePtr input, FilterFn fn) : input_(std::move(input)), fn_(std::move(fn)) {}
  std::string Label() const override { return "Filter"; }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return input_->element_spec(); }
  int64_t Cardinality() const override { return input_->Cardinality() == 0 ? 0 : -1; }
  int64_t ExamplesPerEpoch() const override { return -1; }
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    IterationContext inner = context;
    inner.wants_indices = false;
    EST_ASSIGN_OR_RETURN(std::unique_ptr<NodeIterator> input, input_->MakeIterator(inner));
    return std::make_unique<FilterIterator>(std::move(input), fn_, context.errors);
  }

 private:
  NodePtr input_;
  FilterFn fn_;
};

}  // namespace

NodePtr FilterNode(NodePtr input, FilterFn fn) {
  return std::make_shared<Filter>(std::move(input), std::move(fn));
}

}  // namespace estimator
