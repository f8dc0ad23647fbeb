#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/runtime/arena_fence.h"
#include "estimator/runtime/compare_kernels.h"
#include "estimator/runtime/derived_values.h"
#include "estimator/runtime/name_table.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/program_impl.h"
#include "estimator/runtime/trace.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Checks that the groups name every replica once.
absl::Status CheckGroups(const Collective& collective, int num_replicas) {
  if (collective.groups.empty() || num_replicas == 1) return absl::OkStatus();
  std::vector<int> count(static_cast<size_t>(num_replicas), 0);
  bool good = true;
  for (const std::vector<int64_t>& group : collective.groups) {
    for (const int64_t replica : group) {
      good = good && replica >= 0 && replica < num_replicas && ++ir::At(count, replica) == 1;
    }
  }
  if (good && std::all_of(count.begin(), count.end(), [](int c) { return c == 1; }))
    return absl::OkStatus();
  const auto group = [](std::string* out, const std::vector<int64_t>& g) {
    absl::StrAppend(out, "[", absl::StrJoin(g, ","), "]");
  };
  return absl::InvalidArgumentError(absl::StrCat(
      "CrossReplicaSum: group_assignment [", absl::StrJoin(collective.groups, ",", group),
      "] must name each of the ", num_replicas, " replicas once"));
}

}  // namespace

struct ProgramRun::State {
  std::shared_ptr<const Program> program;
  const ProgramImpl* impl = nullptr;
  VariableStore* store = nullptr;
  int replica = 0;
  int num_replicas = 1;
  std::shared_ptr<Arena> arena, shared;
  std::shared_ptr<DerivedValues> derived;
  // The addresses of the arenas when `address` was computed.
  std::optional<std::pair<const char*, const char*>> bound_to;

  std::vector<Array*> variables;
  std::vector<std::pair<const std::string*, const bool*>> reads;  // name, whether it is initialized
  std::vector<Array> own;
  std::vector<Array> feeds;
  std::vector<Array> fetches;
  std::vector<void*> address;       // of each buffer
  std::vector<const void*> inputs;  // of all instructions, one after the other
  std::vector<void*> outputs;
  std::vector<KernelArgs> args;  // of each instruction
  StepContext step;              // of the current step
  FetchGroups wanted = kAllGroups;
  std::vector<uint64_t*> updated_versions;  // in the store, of the variables that the step updates
  bool marked = false;  // the updated variables are marked as initialized in the store

  void Bind();
  void BindFetches();
  void AllowOperands(const ArenaFence& fence, size_t i, const ir::Node& node) const;
  absl::Status RunInstruction(size_t i);
  absl::Status RunInstruction(size_t i, Trace* trace);  // null: not traced
  absl::Status RunDerived(Trace* trace);
  absl::Status RunChecked(size_t i, const ir::Node& node);
  absl::Status CheckArena() const;
  // The status of the kernel of `node`, with the name of the node.
  absl::Status Failed(const ir::Node& node, const absl::Status& status) const {
    return Annotate(ir::NameTable(status, impl->module, node), node.name);
  }
};

// Computes all addresses. It is cheap compared to a step, and runs only when the arena or a feed
// has moved.
void ProgramRun::State::Bind() {
  bound_to = {arena->data(), shared->data()};
  const ir::MemoryPlan& plan = impl->plan;
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    const ir::Buffer& buffer = plan.buffers[b];
    const size_t index = static_cast<size_t>(buffer.index);
    switch (buffer.kind) {
      case ir::Buffer::Kind::kArena:
        address[b] = arena->data() + buffer.offset;
        break;
      case ir::Buffer::Kind::kShared:
        address[b] = shared->data() + buffer.offset;
        break;
      case ir::Buffer::Kind::kDerived:
        address[b] = derived->data() + buffer.offset;
        break;
      case ir::Buffer::Kind::kOwn:
        address[b] = own[index].raw();
        break;
      // Kernels take inputs as const; no instruction has a constant or a feed as its output.
      case ir::Buffer::Kind::kConstant:
        address[b] = const_cast<void*>(impl->module.nodes[index].constant.raw());
        break;
      case ir::Buffer::Kind::kFeed:
        address[b] = feeds[index].raw();
        break;
      case ir::Buffer::Kind::kVariable:
        address[b] = variables[index]->raw();
        break;
    }
  }
  char* const scratch = plan.shared_bytes > 0 ? shared->data() : arena->data();
  size_t in = 0, out = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const ir::Instruction& instruction = impl->code.instructions[i];
    for (const int b : instruction.inputs) inputs[in++] = ir::At(address, b);
    for (const int b : instruction.outputs) outputs[out++] = ir::At(address, b);
    args[i].scratch = instruction.scratch < 0 ? nullptr : scratch + instruction.scratch;
  }
}

void ProgramRun::State::BindFetches() {
  const ir::Module& module = impl->module;
  for (size_t f = 0; f < module.fetches.size(); ++f) {
    const ir::Node& root = module.node(ir::Root(module, module.fetches[f]));
    const ir::Buffer& buffer = ir::At(impl->plan.buffers, impl->plan.buffer(module.fetches[f]));
    const size_t index = static_cast<size_t>(buffer.index);
    const Array& source = buffer.kind == ir::Buffer::Kind::kFeed       ? feeds[index]
                          : buffer.kind == ir::Buffer::Kind::kConstant ? root.constant
                          : buffer.kind == ir::Buffer::Kind::kVariable ? *variables[index]
                                                                       : own[index];
    const Shape& shape = module.spec(module.fetches[f]).shape;
    if (source.shape() == shape) {
      fetches[f] = source;
    } else {
      fetches[f] = source.Reshaped(shape);
    }
  }
}

absl::StatusOr<std::unique_ptr<ProgramRun>> ProgramRun::Create(
    std::shared_ptr<const Program> program, VariableStore& store, int replica, int num_replicas,
    std::shared_ptr<Arena> arena, std::shared_ptr<Arena> shared,
    std::shared_ptr<DerivedValues> derived) {
  const ProgramImpl& impl = *program->impl_;
  // Its collectives were removed, so several replicas would not be summed.
  if (impl.options.single_replica && num_replicas != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program was compiled for a single replica, not for ", num_replicas));
  }
  for (const ir::Code::Segment& segment : impl.code.segments) {
    for (const Collective& collective : segment.collectives) {
      EST_RETURN_IF_ERROR(CheckGroups(collective, num_replicas));
    }
  }
  auto state = std::make_unique<State>();
  state->impl = &impl;
  state->program = std::move(program);
  state->store = &store;
  state->replica = replica;
  state->num_replicas = num_replicas;
  for (const ir::Variable& variable : impl.module.variables) {
    EST_ASSIGN_OR_RETURN(Array * array, store.Allocate(variable.name, variable.spec));
    state->variables.push_back(array);
  }
  for (const ir::Node& node : impl.module.nodes) {
    // A variable that is only written need not have a value.
    if (node.kind != ir::Node::Kind::kVariable) continue;
    const std::string& name = ir::At(impl.module.variables, node.index).name;
    state->reads.emplace_back(&name, store.InitializedFlag(name));
  }
  state->arena = arena != nullptr ? std::move(arena) : std::make_shared<Arena>();
  state->shared = shared != nullptr ? std::move(shared) : std::make_shared<Arena>();
  EST_RETURN_IF_ERROR(state->arena->Reserve(impl.plan.arena_bytes));
  EST_RETURN_IF_ERROR(state->shared->Reserve(impl.plan.shared_bytes));
  state->derived = std::move(derived);
  if (state->derived == nullptr) {
    EST_ASSIGN_OR_RETURN(state->derived, DerivedValues::Create(impl.code, impl.module.variables,
                                                               impl.plan.derived_bytes, store));
  }
  for (const ir::Update& update : impl.module.updates) {
    state->updated_versions.push_back(
        store.VersionCounter(ir::At(impl.module.variables, update.variable).name));
  }
  for (const TensorSpec& spec : impl.plan.own) state->own.emplace_back(spec.dtype, spec.shape);
  state->feeds.resize(impl.module.feeds.size());
  state->fetches.resize(impl.module.fetches.size());
  state->address.resize(impl.plan.buffers.size());
  size_t num_inputs = 0, num_outputs = 0;
  for (const ir::Instruction& instruction : impl.code.instructions) {
    num_inputs += instruction.inputs.size();
    num_outputs += instruction.outputs.size();
  }
  // All operands are in two lists that never move, so that a step only writes addresses into them.
  state->inputs.resize(num_inputs);
  state->outputs.resize(num_outputs);
  size_t in = 0, out = 0;
  for (const ir::Instruction& instruction : impl.code.instructions) {
    KernelArgs args;
    args.inputs = absl::MakeConstSpan(state->inputs).subspan(in, instruction.inputs.size());
    args.outputs = absl::MakeConstSpan(state->outputs).subspan(out, instruction.outputs.size());
    in += instruction.inputs.size();
    out += instruction.outputs.size();
    state->args.push_back(args);
  }
  return std::unique_ptr<ProgramRun>(new ProgramRun(std::move(state)));
}

ProgramRun::ProgramRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramRun::~ProgramRun() = default;

std::shared_ptr<DerivedValues> ProgramRun::derived_values() const { return state_->derived; }

void ProgramRun::WantFetches(FetchGroups groups) { state_->wanted = groups; }

absl::Status ProgramRun::CheckInitialized() const {
  EST_RETURN_IF_ERROR(state_->store->Download());  // the program reads the storage itself
  std::vector<std::string> missing;
  for (const auto& [name, initialized] : state_->reads) {
    if (!*initialized) missing.push_back(*name);
  }
  if (missing.empty()) return absl::OkStatus();
  // The order of nodes says nothing to a user.
  std::sort(missing.begin(), missing.end());
  return absl::FailedPreconditionError(
      absl::StrCat("the step reads variables that have no value yet: ", JoinSome(missing, 10),
                   "; initialize them or restore a checkpoint"));
}

std::optional<int64_t> ProgramRun::GlobalStep() const {
  for (size_t v = 0; v < state_->variables.size(); ++v) {
    if (state_->impl->module.variables[v].name != "global_step") continue;
    const Array& value = *state_->variables[v];
    if (!IsInteger(value.dtype()) || value.num_elements() != 1) return std::nullopt;
    return static_cast<int64_t>(value.AsDouble());
  }
  return std::nullopt;
}

absl::Status ProgramRun::SetFeeds(const std::vector<Array>& feeds) {
  State& state = *state_;
  const ir::Module& module = state.impl->module;
  if (feeds.size() != module.feeds.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the step takes ", module.feeds.size(),
                                                   " arrays of input, given ", feeds.size()));
  }
  for (size_t f = 0; f < feeds.size(); ++f) {
    if (feeds[f].dtype() == module.feeds[f].dtype && feeds[f].shape() == module.feeds[f].shape)
      continue;
    return absl::InvalidArgumentError(absl::StrCat(module.feed_names[f], " is fed ",
                                                   feeds[f].TypeString(), ", but it is ",
                                                   module.feeds[f].ToString()));
  }
  for (size_t f = 0; f < feeds.size(); ++f) state.feeds[f] = feeds[f];
  state.Bind();
  state.BindFetches();
  return absl::OkStatus();
}

void ProgramRun::State::AllowOperands(const ArenaFence& fence, size_t i,
                                      const ir::Node& node) const {
  for (size_t k = 0; k < node.inputs.size(); ++k)
    fence.Allow(args[i].inputs[k], impl->module.spec(node.inputs[k]).num_bytes());
  for (size_t k = 0; k < node.outputs.size(); ++k)
    fence.Allow(args[i].outputs[k], node.outputs[k].num_bytes());
  if (args[i].scratch != nullptr) fence.Allow(args[i].scratch, node.kernel->scratch_bytes());
}

absl::Status ProgramRun::State::RunInstruction(size_t i) {
  args[i].step = step;
  const ir::Instruction& instruction = impl->code.instructions[i];
  const ir::Node& node = impl->module.node(instruction.node);
  // Each instruction may access only its own operands, so that asan finds a read of another value.
  const ArenaFence fence(*arena), shared_fence(*shared);
  if constexpr (ArenaFence::kActive) {
    AllowOperands(fence, i, node);
    AllowOperands(shared_fence, i, node);
  }
  if (impl->options.check_kernels && impl->checked[i]) return RunChecked(i, node);
  const absl::Status status = instruction.kernel->Run(args[i]);
  return status.ok() ? status : Failed(node, status);
}

absl::Status ProgramRun::State::RunInstruction(size_t i, Trace* trace) {
  if (trace == nullptr) return RunInstruction(i);
  const int64_t start = TraceClockMicros();
  const absl::Status status = RunInstruction(i);
  const int64_t end = TraceClockMicros();
  const ir::Node& node = impl->module.node(impl->code.instructions[i].node);
  const Kernel& kernel = *impl->code.instructions[i].kernel;
  trace->events.push_back({.name = node.name,
                           .op = node.op,
                           .replica = replica,
                           .start_us = start,
                           .duration_us = end - start,
                           .reference = kernel.tier() == KernelTier::kReference});
  return status;
}

absl::Status ProgramRun::State::RunChecked(size_t i, const ir::Node& node) {
  const KernelSpec spec = ir::SpecOf(impl->module, node);
  const auto wrap = [](const TensorSpec& tensor, const void* bytes) {
    return Array::Wrap(tensor.dtype, tensor.shape, const_cast<void*>(bytes), nullptr);
  };
  std::vector<Array> before, after;
  for (size_t k = 0; k < spec.inputs.size(); ++k) {
    before.push_back(
        wrap(spec.inputs[k], args[i].inputs[k]).Clone());  // the kernel may overwrite it
  }
  EST_RETURN_IF_ERROR(Failed(node, impl->code.instructions[i].kernel->Run(args[i])));
  for (size_t k = 0; k < spec.outputs.size(); ++k)
    after.push_back(wrap(spec.outputs[k], args[i].outputs[k]));
  return Annotate(ir::CheckAgainstReference(node, spec, before, after, args[i].step), node.name);
}

// Computes the derived values that the step needs and that are not those of the current variables.
absl::Status ProgramRun::State::RunDerived(Trace* trace) {
  if (impl->code.derived.empty()) return absl::OkStatus();
  const absl::Span<const char> stale = derived->FindStale(wanted);
  for (size_t i = 0; i < stale.size(); ++i) {
    if (!stale[i]) continue;
    EST_RETURN_IF_ERROR(RunInstruction(i, trace));
    derived->MarkComputed(i);
  }
  return absl::OkStatus();
}

// Checks that the arena still has the values of this run's step.
absl::Status ProgramRun::State::CheckArena() const {
  if (arena->user() == this) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "another step of the same estimator ran in the middle of this one: call Train, Evaluate and "
      "Predict from hooks, not from host_call or from another thread");
}

absl::Status ProgramRun::RunSegment(int segment, int64_t global_step) {
  State& state = *state_;
  // Another program may have grown the shared arena since the addresses were computed.
  if (segment == 0) {
    if (state.bound_to !=
        std::pair<const char*, const char*>(state.arena->data(), state.shared->data())) {
      state.Bind();
      state.BindFetches();
    }
    state.arena->set_user(&state);
  }
  EST_RETURN_IF_ERROR(state.CheckArena());
  state.step = {.step = global_step, .replica = state.replica, .num_replicas = state.num_replicas};
  const std::shared_ptr<Trace> trace = ThreadTrace();
  if (segment == 0) EST_RETURN_IF_ERROR(state.RunDerived(trace.get()));
  const ir::Code::Segment& code = ir::At(state.impl->code.segments, segment);
  for (int i = code.begin; i < code.end; ++i) {
    // Only replica 0's updates take effect.
    const ir::Instruction& instruction = ir::At(state.impl->code.instructions, i);
    if (state.replica > 0 && instruction.only_updates) continue;
    if (instruction.groups != ir::Instruction::kAlways && (instruction.groups & state.wanted) == 0)
      continue;
    EST_RETURN_IF_ERROR(state.RunInstruction(static_cast<size_t>(i), trace.get()));
  }
  return absl::OkStatus();
}

void* ProgramRun::buffer(int number) { return ir::At(state_->address, number); }

absl::Status ProgramRun::ApplyUpdates() {
  State& state = *state_;
  EST_RETURN_IF_ERROR(state.CheckArena());
  const ir::Module& module = state.impl->module;
  const std::shared_ptr<Trace> trace = ThreadTrace();
  // Before the first write, so that what is derived from the old values is stale even if an
  // instruction fails.
  for (uint64_t* const version : state.updated_versions) ++*version;
  for (size_t i = static_cast<size_t>(state.impl->code.updates_begin); i < state.args.size(); ++i) {
    EST_RETURN_IF_ERROR(state.RunInstruction(i, trace.get()));
  }
  for (const int u : state.impl->schedule.copies) {
    const ir::Update& update = ir::At(module.updates, u);
    Array& variable = *ir::At(state.variables, update.variable);
    ir::CopyElements(variable.dtype(), variable.num_elements(),
                     ir::At(state.address, state.impl->plan.buffer(update.value)), variable.raw());
  }
  // The store is asked by name, which takes too long for every step.
  if (!state.marked) {
    for (const ir::Update& update : module.updates) {
      state.store->MarkInitialized(ir::At(module.variables, update.variable).name);
    }
    state.marked = true;
  }
  // The sweep has written the copies of the new values, so that no step computes them.
  for (size_t i = static_cast<size_t>(state.impl->code.updates_begin); i < state.args.size(); ++i) {
    for (const int copy : state.impl->code.instructions[i].copies)
      state.derived->MarkComputed(static_cast<size_t>(copy));
  }
  return absl::OkStatus();
}

const std::vector<Array>& ProgramRun::fetches() const { return state_->fetches; }

}  // namespace estimator
