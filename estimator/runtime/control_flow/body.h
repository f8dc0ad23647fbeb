// Body: a compiled body of a loop or a branch, with executors that run it. Internal to runtime.
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_BODY_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_BODY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/kernels/kernel.h"
#include "estimator/runtime/compile_module.h"
#include "estimator/runtime/control_flow/executor.h"
#include "estimator/runtime/control_flow/growing_list.h"
#include "estimator/runtime/trace.h"

namespace estimator {

// Not thread-safe. Its owner provides the memory: sets the addresses of feeds and results for each
// executor, then calls Bind.
class Body {
 public:
  Body(CompiledModule compiled, int num_executors);

  const CompiledModule& compiled() const { return *compiled_; }
  Executor& executor(size_t e) { return executors_[e]; }
  int64_t arena_bytes() const { return compiled_->plan.arena_bytes; }
  int64_t derived_bytes() const { return compiled_->plan.derived_bytes; }

  // The buffer of feed `f`; -1 if nothing reads it.
  int feed_buffer(size_t f) const { return feed_buffer_[f]; }
  void SetFeed(size_t e, size_t f, const void* address);
  int result_buffer(size_t r) const { return compiled_->plan.buffer(compiled_->module.fetches[r]); }
  // Whether an instruction writes result `r` to the address of SetResult. Otherwise the result is a
  // feed, a constant, or equal to an earlier result, and the owner copies it from its buffer.
  bool Writes(size_t r) const { return writes_[r] != 0; }
  void SetResult(size_t e, size_t r, void* address);
  // The address of result `r` after a run.
  const void* Result(size_t e, size_t r) const { return executors_[e].address(result_buffer(r)); }

  // Computes the addresses of the other buffers.
  //   arena: arena_bytes() bytes, 64-byte aligned.  derived: derived_bytes() bytes.
  void Bind(size_t e, char* arena, char* derived);
  // Computes what depends on captures alone. `derived` keeps it.
  absl::Status RunDerived(size_t e, const StepContext& step, Trace* trace);
  absl::Status Run(size_t e, const StepContext& step, Trace* trace);

 private:
  // On the heap, because executors point to it.
  std::unique_ptr<const CompiledModule> compiled_;
  std::vector<Executor> executors_;
  std::vector<int> feed_buffer_;
  std::vector<char> writes_;
  std::vector<Array> own_;  // strings that are no results
  std::vector<GrowingList> lists_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_BODY_H_
