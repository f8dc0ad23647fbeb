#include "estimator/data/pipeline/transform.h"

#include <algorithm>

#include "estimator/base/random.h"
#include "estimator/base/saturating.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

absl::StatusOr<IteratorPtr> TransformNode::NewIterator(const IterationContext& context) const {
  if (source_ != nullptr) return InOrder(source_);
  IterationContext inner = context;
  ForInput(inner);
  EST_ASSIGN_OR_RETURN(IteratorPtr input, input_->MakeIterator(inner));
  return Over(std::move(input), inner);
}

int64_t JoinNode::SumOfCardinalities() const {
  int64_t sum = 0;
  bool unknown = false;
  for (const NodePtr& part : parts_) {
    const int64_t n = part->Cardinality();
    if (n == Dataset::kInfinite) return n;
    unknown |= n < 0;
    sum = SaturatingAdd(sum, std::max<int64_t>(n, 0));
  }
  return unknown ? -1 : sum;
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

absl::StatusOr<IteratorPtr> MakeInnerIterator(const absl::StatusOr<NodePtr>& node,
                                              const IterationContext& outer, uint64_t ordinal,
                                              absl::string_view where) {
  absl::Status status = node.status();
  if (status.ok()) status = (*node)->status();
  if (!status.ok()) return Annotate(status, where);
  IterationContext inner = outer;
  inner.epoch_key = HashSeed(outer.epoch_key, ordinal);
  inner.timer = nullptr;  // the time of the inner dataset counts for the node that made it
  absl::StatusOr<IteratorPtr> iterator = (*node)->MakeIterator(inner);
  if (iterator.ok()) return iterator;
  return Annotate(iterator.status(), where);
}

}  // namespace estimator
