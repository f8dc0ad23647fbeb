#include "estimator/runtime/control_flow/executor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "estimator/runtime/name_table.h"

namespace estimator {

// Gives each instruction its part of the lists of operands. The lists never move afterwards, so
// that a step only writes addresses into them.
Executor::Executor(const CompiledModule& compiled)
    : compiled_(&compiled), address_(compiled.plan.buffers.size(), nullptr) {
  size_t num_inputs = 0, num_outputs = 0;
  for (const ir::Instruction& instruction : compiled.code.instructions) {
    num_inputs += instruction.inputs.size();
    num_outputs += instruction.outputs.size();
  }
  inputs_.resize(num_inputs);
  outputs_.resize(num_outputs);
  size_t in = 0, out = 0;
  for (const ir::Instruction& instruction : compiled.code.instructions) {
    KernelArgs args;
    args.inputs = absl::MakeConstSpan(inputs_).subspan(in, instruction.inputs.size());
    args.outputs = absl::MakeConstSpan(outputs_).subspan(out, instruction.outputs.size());
    in += instruction.inputs.size();
    out += instruction.outputs.size();
    args.rows = instruction.rows;
    args_.push_back(args);
  }
  // Kernels take inputs as const; no instruction has a constant or a feed as its output.
  for (size_t b = 0; b < address_.size(); ++b) {
    const ir::Buffer& buffer = compiled.plan.buffers[b];
    if (buffer.kind == ir::Buffer::Kind::kConstant)
      address_[b] = const_cast<void*>(compiled.module.node(buffer.index).constant.raw());
  }
}

void Executor::Bind(absl::Span<const MemoryArea> areas, char* scratch) {
  areas_ = {};
  std::copy(areas.begin(), areas.end(), areas_.begin());
  size_t in = 0, out = 0;
  for (size_t i = 0; i < args_.size(); ++i) {
    const ir::Instruction& instruction = compiled_->code.instructions[i];
    for (const int b : instruction.inputs) inputs_[in++] = address(b);
    for (const int b : instruction.outputs) outputs_[out++] = address(b);
    args_[i].scratch = instruction.scratch < 0 ? nullptr : scratch + instruction.scratch;
  }
}

Executor::Uses Executor::UsesOf(int buffer) {
  Uses uses{.buffer = buffer, .inputs = {}, .outputs = {}};
  size_t in = 0, out = 0;
  for (const ir::Instruction& instruction : compiled_->code.instructions) {
    for (const int b : instruction.inputs) {
      if (b == buffer) uses.inputs.push_back(&inputs_[in]);
      ++in;
    }
    for (const int b : instruction.outputs) {
      if (b == buffer) uses.outputs.push_back(&outputs_[out]);
      ++out;
    }
  }
  return uses;
}

void Executor::Rebind(const Uses& uses, void* address) {
  if (uses.buffer < 0) return;
  set_address(uses.buffer, address);
  for (const void** input : uses.inputs) *input = address;
  for (void** output : uses.outputs) *output = address;
}

void Executor::AllowOperands(const ArenaFence& fence, size_t i, const ir::Node& node) const {
  // A list is not in an arena.
  const auto allow = [&fence](const void* operand, const TensorSpec& spec) {
    if (!ir::IsList(spec)) fence.Allow(operand, spec.num_bytes());
  };
  for (size_t k = 0; k < node.inputs.size(); ++k)
    allow(args_[i].inputs[k], compiled_->module.spec(node.inputs[k]));
  for (size_t k = 0; k < node.outputs.size(); ++k) allow(args_[i].outputs[k], node.outputs[k]);
  if (args_[i].scratch != nullptr) fence.Allow(args_[i].scratch, node.kernel->scratch_bytes());
}

absl::Status Executor::RunUntraced(size_t i) {
  const ir::Instruction& instruction = compiled_->code.instructions[i];
  const ir::Node& node = compiled_->module.node(instruction.node);
  if (args_[i].step.deadline_ns != 0)
    EST_RETURN_IF_ERROR(Annotate(CheckDeadline(args_[i].step), node.name));
  // Each instruction may access only its own operands, so that asan finds a read of another value.
  const ArenaFence fence(areas_[0]), shared_fence(areas_[1]);
  if constexpr (ArenaFence::kActive) {
    AllowOperands(fence, i, node);
    AllowOperands(shared_fence, i, node);
  }
  if (!compiled_->checked.empty() && compiled_->checked[i]) return RunChecked(i, node);
  const absl::Status status = instruction.kernel->Run(args_[i]);
  // An error in a branch begins with the name of a node, which begins with that of this one.
  if (status.ok() || absl::StartsWith(status.message(), absl::StrCat(node.name, "/")))
    return status;
  return Annotate(ir::NameTable(status, compiled_->module, node), node.name);
}

absl::Status Executor::Run(size_t i, const StepContext& step, Trace* trace) {
  args_[i].step = step;
  if (trace == nullptr) return RunUntraced(i);
  const size_t first_inside = trace->events.size();
  const int64_t start = TraceClockMicros();
  const absl::Status status = RunUntraced(i);
  const int64_t end = TraceClockMicros();
  const ir::Instruction& instruction = compiled_->code.instructions[i];
  const ir::Node& node = compiled_->module.node(instruction.node);
  TraceEvent event{.name = node.name,
                   .op = node.op,
                   .replica = step.replica,
                   .start_us = start,
                   .duration_us = end - start,
                   .reference = instruction.kernel->tier() == KernelTier::kReference};
  for (size_t inside = first_inside; inside < trace->events.size(); ++inside)
    event.inside_us += trace->events[inside].own_us();
  trace->Add(std::move(event));
  return status;
}

absl::Status Executor::RunChecked(size_t i, const ir::Node& node) {
  const KernelSpec spec = ir::SpecOf(compiled_->module, node);
  const auto wrap = [](const TensorSpec& tensor, const void* bytes) {
    return Array::Wrap(tensor.dtype, tensor.shape, const_cast<void*>(bytes), nullptr);
  };
  std::vector<Array> before, after;
  for (size_t k = 0; k < spec.inputs.size(); ++k) {
    before.push_back(
        wrap(spec.inputs[k], args_[i].inputs[k]).Clone());  // the kernel may overwrite it
  }
  EST_RETURN_IF_ERROR(Annotate(
      ir::NameTable(compiled_->code.instructions[i].kernel->Run(args_[i]), compiled_->module, node),
      node.name));
  // The outputs are compared before another instruction can overwrite them, so they need no copy.
  for (size_t k = 0; k < spec.outputs.size(); ++k)
    after.push_back(wrap(spec.outputs[k], args_[i].outputs[k]));
  return Annotate(ir::CheckAgainstReference(node, spec, before, after, args_[i].step), node.name);
}

}  // namespace estimator
