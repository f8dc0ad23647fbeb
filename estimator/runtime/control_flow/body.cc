#include "estimator/runtime/control_flow/body.h"

#include <set>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/control_flow/non_finite_watch.h"

namespace estimator {

using ir::Buffer;

Body::Body(CompiledModule compiled, int num_executors)
    : compiled_(std::make_unique<const CompiledModule>(std::move(compiled))) {
  const ir::Module& module = compiled_->module;
  const ir::MemoryPlan& plan = compiled_->plan;
  feed_buffer_.assign(module.feeds.size(), -1);
  for (int n = 0; n < module.num_nodes(); ++n) {
    const ir::Node& node = module.node(n);
    if (node.kind == ir::Node::Kind::kFeed) ir::At(feed_buffer_, node.index) = plan.buffer({n, 0});
  }
  std::set<int> results;  // in MemoryPlan::own
  for (size_t r = 0; r < module.fetches.size(); ++r) {
    const Buffer& buffer = ir::At(plan.buffers, result_buffer(r));
    writes_.push_back(buffer.kind == Buffer::Kind::kOwn && results.insert(buffer.index).second);
  }
  for (size_t i = 0; i < plan.own.size(); ++i) {
    own_.emplace_back();
    if (results.count(static_cast<int>(i)) == 0)
      own_[i] = Array(plan.own[i].dtype, plan.own[i].shape);
  }
  for (const TensorSpec& spec : plan.lists) lists_.emplace_back(spec.num_bytes());
  for (int e = 0; e < num_executors; ++e) executors_.emplace_back(*compiled_);
}

void Body::SetFeed(size_t e, size_t f, const void* address) {
  // No instruction writes a feed, except a loop's carried value, whose memory is the loop's.
  if (feed_buffer_[f] >= 0) executors_[e].set_address(feed_buffer_[f], const_cast<void*>(address));
}

void Body::SetResult(size_t e, size_t r, void* address) {
  if (Writes(r)) executors_[e].set_address(result_buffer(r), address);
}

void Body::Bind(size_t e, char* arena, char* derived) {
  Executor& executor = executors_[e];
  const std::vector<Buffer>& buffers = compiled_->plan.buffers;
  for (int b = 0; b < static_cast<int>(buffers.size()); ++b) {
    const Buffer& buffer = ir::At(buffers, b);
    if (buffer.kind == Buffer::Kind::kArena) {
      executor.set_address(b, arena + buffer.offset);
    } else if (buffer.kind == Buffer::Kind::kDerived) {
      executor.set_address(b, derived + buffer.offset);
    } else if (buffer.kind == Buffer::Kind::kList) {
      executor.set_address(b, &ir::At(lists_, buffer.index));
    } else if (buffer.kind == Buffer::Kind::kOwn && ir::At(own_, buffer.index).valid()) {
      executor.set_address(b, ir::At(own_, buffer.index).raw());
    }
  }
  executor.Bind({{arena, arena_bytes()}}, arena);
}

absl::Status Body::RunDerived(size_t e, const StepContext& step, Trace* trace) {
  for (size_t i = 0; i < compiled_->code.derived.size(); ++i)
    EST_RETURN_IF_ERROR(executors_[e].Run(i, step, trace));
  return absl::OkStatus();
}

absl::Status Body::Run(size_t e, const StepContext& step, Trace* trace) {
  // A body has no collectives and no updates, so it has one segment.
  const ir::Code::Segment& segment = compiled_->code.segments[0];
  NonFiniteWatch* const watch = NonFiniteWatch::Current();
  for (int i = segment.begin; i < segment.end; ++i) {
    const auto n = static_cast<size_t>(i);
    EST_RETURN_IF_ERROR(executors_[e].Run(n, step, trace));
    if (watch != nullptr) {
      watch->Look(compiled_->module.node(compiled_->code.instructions[n].node),
                  executors_[e].outputs(n));
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator
