#include "estimator/data/pipeline/transform.h"

namespace estimator {

absl::StatusOr<IteratorPtr> TransformNode::NewIterator(const IterationContext& context) const {
  if (source_ != nullptr) return InOrder(source_);
  IterationContext inner = context;
  ForInput(inner);
  EST_ASSIGN_OR_RETURN(IteratorPtr input, input_->MakeIterator(inner));
  return Over(std::move(input), inner);
}

std::vector<SourcePtr> JoinNode::Sources() const {
  std::vector<SourcePtr> sources;
  for (const NodePtr& part : parts_) {
    sources.push_back(part->random_access());
    if (sources.back() == nullptr) return {};
  }
  return sources;
}

absl::StatusOr<std::vector<IteratorPtr>> JoinNode::MakeIterators(IterationContext context) const {
  context.wants_indices = false;
  std::vector<IteratorPtr> iterators;
  for (const NodePtr& part : parts_) {
    EST_ASSIGN_OR_RETURN(IteratorPtr iterator, part->MakeIterator(context));
    iterators.push_back(std::move(iterator));
  }
  return iterators;
}

}  // namespace estimator
