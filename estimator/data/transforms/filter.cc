// Filter keeps the elements for which a function returns true. TakeWhile ends before the first for
// which it returns false.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/pipeline/user_function.h"

namespace estimator {
namespace {

struct Filtering {
  FilterFn fn;
  bool takes_while = false;

  const char* name() const { return takes_while ? "TakeWhile" : "Filter"; }
};

// State of Filter: the state of the input. State of TakeWhile: whether the end was reached; the
// state of the input (nested).
class FilterIterator final : public TransformIterator {
 public:
  FilterIterator(IteratorPtr input, Filtering filtering, std::shared_ptr<SkippedErrors> errors)
      : TransformIterator(std::move(input)),
        filtering_(std::move(filtering)),
        errors_(std::move(errors)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    while (!ended_) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) return std::nullopt;
      const absl::StatusOr<bool> keep = CallUserFunction(filtering_.fn, *element);
      if (!keep.ok()) {
        const std::string where = input_->Where();
        const absl::Status error =
            Annotate(keep.status(), absl::StrCat(filtering_.name(), ": ", where));
        if (errors_ == nullptr) return error;
        EST_RETURN_IF_ERROR(errors_->Skip(error, where));
      } else if (*keep) {
        return element;
      } else {
        ended_ = filtering_.takes_while;
      }
    }
    return std::nullopt;
  }
  absl::Status Save(StateWriter& state) const override {
    return filtering_.takes_while ? SaveFields(state, ended_, input_) : input_->Save(state);
  }
  absl::Status Restore(StateReader& state) override {
    return filtering_.takes_while ? RestoreFields(state, ended_, input_) : input_->Restore(state);
  }

 private:
  Filtering filtering_;
  std::shared_ptr<SkippedErrors> errors_;  // null: no element is skipped
  bool ended_ = false;
};

class FilteringNode final : public TransformNode {
 public:
  FilteringNode(NodePtr input, Filtering filtering)
      : TransformNode(std::move(input)), filtering_(std::move(filtering)) {}
  std::string Label() const override { return filtering_.name(); }
  int64_t Cardinality() const override { return input()->Cardinality() == 0 ? 0 : -1; }
  int64_t ExamplesPerEpoch() const override { return -1; }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input,
                                   const IterationContext& context) const override {
    // Nobody knows whether a damaged element would have been the end of TakeWhile.
    return std::make_unique<FilterIterator>(std::move(input), filtering_,
                                            filtering_.takes_while ? nullptr : context.errors);
  }

  Filtering filtering_;
};

}  // namespace

NodePtr FilterNode(NodePtr input, FilterFn fn) {
  return std::make_shared<FilteringNode>(std::move(input), Filtering{.fn = std::move(fn)});
}
NodePtr TakeWhileNode(NodePtr input, FilterFn fn) {
  return std::make_shared<FilteringNode>(std::move(input),
                                         Filtering{.fn = std::move(fn), .takes_while = true});
}

}  // namespace estimator
