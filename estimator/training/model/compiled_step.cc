#include "estimator/training/model/compiled_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

std::string NameOf(const BuiltModel& model, const Backend& backend) {
  const Mode mode = model.spec.mode;
  const char* const what = mode == Mode::kTrain  ? "training"
                           : mode == Mode::kEval ? "evaluation"
                                                 : "prediction";
  return absl::StrCat(what, " with a batch of ", model.batch_size,
                      backend.num_replicas() > 1 ? " on each replica" : "");
}

}  // namespace

size_t CompiledStep::Fetch(const Tensor& tensor, When when) {
  const size_t index =
      static_cast<size_t>(std::find(fetches_.begin(), fetches_.end(), tensor) - fetches_.begin());
  if (index == fetches_.size()) {
    // With more tensors than groups, some of them are computed together.
    constexpr size_t kNumGroups = 64;
    fetches_.push_back(tensor);
    groups_.push_back(when == When::kAlways ? 0 : FetchGroups{1} << index % kNumGroups);
    executable_ = nullptr;
    // A tensor that a hook watched sometimes is now needed in every step.
  } else if (when == When::kAlways && groups_[index] != 0) {
    groups_[index] = 0;
    executable_ = nullptr;
  }
  return index;
}

FetchGroups CompiledStep::GroupsOf(absl::Span<const size_t> fetches) const {
  FetchGroups groups = 0;
  for (const size_t fetch : fetches) groups |= groups_[fetch];
  return groups;
}

void CompiledStep::AlsoUpdate(const std::vector<Operation>& updates) {
  for (const Operation& update : updates) {
    const auto is_same = [&update](const Operation& o) { return o.node() == update.node(); };
    if (std::any_of(updates_.begin(), updates_.end(), is_same)) continue;
    updates_.push_back(update);
    executable_ = nullptr;
  }
}

absl::StatusOr<Executable*> CompiledStep::executable() {
  if (executable_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Executable>> compiled =
        backend_.Compile(*model_.graph, {.feeds = model_.placeholders,
                                         .fetches = fetches_,
                                         .updates = updates_,
                                         .fetch_groups = groups_,
                                         .name = NameOf(model_, backend_)});
    // The backend does not know which of the sizes of a tensor is the batch, which is what users
    // can change.
    if (absl::IsResourceExhausted(compiled.status())) {
      return Annotate(compiled.status(),
                      absl::StrCat("a batch of ", model_.batch_size,
                                   backend_.num_replicas() > 1 ? " on each replica" : ""));
    }
    EST_ASSIGN_OR_RETURN(executable_, std::move(compiled));
  }
  return executable_.get();
}

absl::StatusOr<StepFeeds> CompiledStep::Feeds(const StepInput& input) const {
  StepFeeds feeds;
  feeds.reserve(input.replicas.size());
  for (const Element& element : input.replicas) {
    EST_ASSIGN_OR_RETURN(std::vector<Array> arrays, FeedsOf(model_.slots, element));
    feeds.push_back(std::move(arrays));
  }
  return feeds;
}

}  // namespace estimator
