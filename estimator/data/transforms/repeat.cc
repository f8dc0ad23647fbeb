// Repeat. Each pass has an epoch key of its own, so that shuffles in the input differ between
// passes.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

struct Passes {
  NodePtr node;
  int64_t count;  // -1 repeats without end
  IterationContext context;

  absl::StatusOr<IteratorPtr> Begin(int64_t pass) const {
    IterationContext inner = context;
    if (pass > 0) inner.epoch_key = HashSeed(context.epoch_key, static_cast<uint64_t>(pass));
    return node->MakeIterator(inner);
  }
};

// State: the pass, whether the pass gave an element, whether all passes ended; the state of the
// pass (nested).
template <typename Item>
class RepeatIterator final : public Transform<Item> {
 public:
  RepeatIterator(IteratorPtr first, Passes passes)
      : Transform<Item>(std::move(first)), passes_(std::move(passes)) {
    ended_ = passes_.count == 0;
  }

  absl::Status Save(StateWriter& state) const override {
    return SaveFields(state, pass_, any_, ended_, this->input_);
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(RestoreFields(state, pass_, any_, ended_));
    EST_ASSIGN_OR_RETURN(this->input_, passes_.Begin(pass_));
    return RestoreNested(*this->input_, state);
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count && !ended_) {
      EST_ASSIGN_OR_RETURN(const int64_t some, this->input_->Skip(count - skipped));
      skipped += some;
      if (some > 0) any_ = true;
      if (skipped < count) EST_RETURN_IF_ERROR(BeginNextPass());
    }
    return skipped;
  }

 protected:
  absl::StatusOr<std::optional<Item>> Produce() override {
    while (!ended_) {
      absl::StatusOr<std::optional<Item>> item = this->Pull();
      if (!item.ok()) return item;
      if (item->has_value()) {
        any_ = true;
        return item;
      }
      EST_RETURN_IF_ERROR(BeginNextPass());
    }
    return std::nullopt;
  }

 private:
  absl::Status BeginNextPass() {
    // A pass without elements ends the iteration. Otherwise an empty input would loop without end.
    if (!any_ || (passes_.count >= 0 && pass_ + 1 >= passes_.count)) {
      ended_ = true;
      return absl::OkStatus();
    }
    ++pass_;
    any_ = false;
    EST_ASSIGN_OR_RETURN(this->input_, passes_.Begin(pass_));
    return absl::OkStatus();
  }

  Passes passes_;
  int64_t pass_ = 0;
  bool any_ = false;
  bool ended_ = false;
};

class Repeat final : public TransformNode {
 public:
  Repeat(NodePtr input, int64_t count) : TransformNode(std::move(input)), count_(count) {}
  std::string Label() const override {
    return count_ < 0 ? "Repeat" : absl::StrCat("Repeat(", count_, ")");
  }
  int64_t Cardinality() const override {
    const int64_t once = input()->Cardinality();
    if (count_ == 0 || once == 0) return 0;
    if (once < 0) return count_ < 0 ? Dataset::kInfinite : once;
    return count_ < 0 ? Dataset::kInfinite : SaturatingMultiply(once, count_);
  }
  int64_t ExamplesPerEpoch() const override { return input()->ExamplesPerEpoch(); }

 private:
  void ForInput(IterationContext&) const override {}
  absl::StatusOr<IteratorPtr> Over(IteratorPtr first,
                                   const IterationContext& context) const override {
    return MakeTransform<RepeatIterator>(
        std::move(first), Passes{.node = input(), .count = count_, .context = context});
  }

  int64_t count_;
};

}  // namespace

NodePtr RepeatNode(NodePtr input, int64_t count) {
  return std::make_shared<Repeat>(std::move(input), count < 0 ? -1 : count);
}

}  // namespace estimator
