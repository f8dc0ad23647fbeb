#include "estimator/training/model/compiled_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

size_t CompiledStep::Fetch(const Tensor& tensor) {
  const auto found = std::find(fetches_.begin(), fetches_.end(), tensor);
  if (found != fetches_.end()) return static_cast<size_t>(found - fetches_.begin());
  fetches_.push_back(tensor);
  executable_ = nullptr;
  return fetches_.size() - 1;
}

absl::StatusOr<Executable*> CompiledStep::executable() {
  if (executable_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Executable>> compiled = backend_.Compile(
        *model_.graph, {.feeds = model_.placeholders, .fetches = fetches_, .updates = updates_});
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
