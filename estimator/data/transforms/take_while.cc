// TakeWhile: the elements before the first for which a function is false.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/user_function.h"

namespace estimator {
namespace {

// State: whether the end was reached; the state of the input (nested).
class TakeWhileIterator final : public NodeIterator {
 public:
  TakeWhileIterator(std::unique_ptr<NodeIterator> input, FilterFn fn)
      : input_(std::move(input)), fn_(std::move(fn)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    if (ended_) return std::nullopt;
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) return std::nullopt;
    const absl::StatusOr<bool> more = CallUserFunction(fn_, *element);
    if (!more.ok()) return Annotate(more.status(), absl::StrCat("TakeWhile: ", input_->Where()));
    if (*more) return element;
    ended_ = true;
    return std::nullopt;
  }
  absl::Status Save(StateWriter& state) const override {
    state.Bool(ended_);
    return SaveNested(*input_, state);
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(ended_, state.Bool());
    return RestoreNested(*input_, state);
  }
  std::string Where() const override { return input_->Where(); }

 private:
  std::unique_ptr<NodeIterator> input_;
  FilterFn fn_;
  bool ended_ = false;
};

class TakeWhile final : public DatasetNode {
 public:
  TakeWhile(NodePtr input, FilterFn fn) : input_(std::move(input)), fn_(std::move(fn)) {}
  std::string Label() const override { return "TakeWhile"; }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return input_->element_spec(); }
  int64_t Cardinality() const override { return input_->Cardinality() == 0 ? 0 : -1; }
  int64_t ExamplesPerEpoch() const override { return -1; }
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    IterationContext inner = context;
    inner.wants_indices = false;
    EST_ASSIGN_OR_RETURN(std::unique_ptr<NodeIterator> input, input_->MakeIterator(inner));
    return std::make_unique<TakeWhileIterator>(std::move(input), fn_);
  }

 private:
  NodePtr input_;
  FilterFn fn_;
};

}  // namespace

NodePtr TakeWhileNode(NodePtr input, FilterFn fn) {
  return std::make_shared<TakeWhile>(std::move(input), std::move(fn));
}

}  // namespace estimator
