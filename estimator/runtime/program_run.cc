#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/runtime/control_flow/executor.h"
#include "estimator/runtime/control_flow/growing_list.h"
#include "estimator/runtime/derived_values.h"
#include "estimator/runtime/openmp_team.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/program_impl.h"
#include "estimator/runtime/trace.h"

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
  return InvalidArgument("CrossReplicaSum: group_assignment [",
                         absl::StrJoin(collective.groups, ",", group), "] must name each of the ",
                         num_replicas, " replicas once");
}

}  // namespace

// Computes all addresses. It is cheap compared to a step, and runs only when the arena or a feed
// has moved.
void ProgramRun::Bind() {
  bound_to_ = {arena_->data(), shared_->data()};
  const ir::MemoryPlan& plan = impl_.plan;
  for (int b = 0; b < static_cast<int>(plan.buffers.size()); ++b) {
    const ir::Buffer& buffer = ir::At(plan.buffers, b);
    const size_t index = static_cast<size_t>(buffer.index);
    switch (buffer.kind) {
      case ir::Buffer::Kind::kArena:
        executor_->set_address(b, arena_->data() + buffer.offset);
        break;
      case ir::Buffer::Kind::kShared:
        executor_->set_address(b, shared_->data() + buffer.offset);
        break;
      case ir::Buffer::Kind::kDerived:
        executor_->set_address(b, derived_->data() + buffer.offset);
        break;
      case ir::Buffer::Kind::kBucket:
        executor_->set_address(b, buckets_ + buffer.offset);
        break;
      case ir::Buffer::Kind::kOwn:
        executor_->set_address(b, own_[index].raw());
        break;
      case ir::Buffer::Kind::kList:
        executor_->set_address(b, &lists_[index]);
        break;
      case ir::Buffer::Kind::kConstant:  // the executor knows it
        break;
      case ir::Buffer::Kind::kFeed:
        executor_->set_address(b, feeds_[index].raw());
        break;
      case ir::Buffer::Kind::kVariable:
        executor_->set_address(b, variables_[index]->raw());
        break;
    }
  }
  // With collectives, PlanMemory puts all scratch into the shared arena: it is not needed after its
  // instruction.
  executor_->Bind({{arena_->data(), arena_->bytes()}, {shared_->data(), shared_->bytes()}},
                  plan.shared_bytes > 0 ? shared_->data() : arena_->data());
}

void ProgramRun::BindFetches() {
  const ir::Module& module = impl_.module;
  for (size_t f = 0; f < module.fetches.size(); ++f) {
    const ir::Node& root = module.node(ir::Root(module, module.fetches[f]));
    const ir::Buffer& buffer = ir::At(impl_.plan.buffers, impl_.plan.buffer(module.fetches[f]));
    const size_t index = static_cast<size_t>(buffer.index);
    const Array& source = buffer.kind == ir::Buffer::Kind::kFeed       ? feeds_[index]
                          : buffer.kind == ir::Buffer::Kind::kConstant ? root.constant
                          : buffer.kind == ir::Buffer::Kind::kVariable ? *variables_[index]
                                                                       : own_[index];
    const Shape& shape = module.spec(module.fetches[f]).shape;
    // Without a temporary array, whose shape would be allocated in every step.
    if (source.shape() == shape) {
      fetches_[f] = source;
    } else {
      fetches_[f] = source.Reshaped(shape);
    }
  }
}

absl::StatusOr<std::unique_ptr<ProgramRun>> ProgramRun::Create(
    std::shared_ptr<const Program> program, VariableStore& store, int replica, int num_replicas,
    std::shared_ptr<Arena> arena, std::shared_ptr<Arena> shared,
    std::shared_ptr<DerivedValues> derived, bool updates) {
  const ProgramImpl& impl = *program->impl_;
  // Its collectives were removed, so several replicas would not be summed.
  if (impl.options.single_replica && num_replicas != 1) {
    return InvalidArgument("the program was compiled for a single replica, not for ", num_replicas);
  }
  // Only a run knows the number of replicas, so the groups cannot be checked when the program is
  // compiled.
  for (const ir::Code::Segment& segment : impl.code.segments) {
    for (const Collective& collective : segment.collectives) {
      EST_RETURN_IF_ERROR(CheckGroups(collective, num_replicas));
    }
  }
  std::unique_ptr<ProgramRun> run(
      new ProgramRun(std::move(program), store, replica, num_replicas, updates));
  EST_RETURN_IF_ERROR(run->Init(std::move(arena), std::move(shared), std::move(derived)));
  return run;
}

ProgramRun::ProgramRun(std::shared_ptr<const Program> program, VariableStore& store, int replica,
                       int num_replicas, bool updates)
    : program_(std::move(program)),
      impl_(*program_->impl_),
      executor_(std::make_unique<Executor>(impl_)),
      store_(store),
      replica_(replica),
      num_replicas_(num_replicas),
      updates_(updates) {}

ProgramRun::~ProgramRun() = default;

void* ProgramRun::buffer(int number) { return executor_->address(number); }

absl::Status ProgramRun::Init(std::shared_ptr<Arena> arena, std::shared_ptr<Arena> shared,
                              std::shared_ptr<DerivedValues> derived) {
  const ir::Module& module = impl_.module;
  for (const ir::Variable& variable : module.variables) {
    // The address stays the same while the store exists, so no step looks up a name.
    EST_ASSIGN_OR_RETURN(Array * array, store_.Allocate(variable.name, variable.spec));
    variables_.push_back(array);
  }
  for (const ir::Node& node : module.nodes) {
    // A variable that is only written need not have a value.
    if (node.kind != ir::Node::Kind::kVariable) continue;
    const std::string& name = ir::At(module.variables, node.index).name;
    reads_.emplace_back(&name, store_.InitializedFlag(name));
  }
  arena_ = arena != nullptr ? std::move(arena) : std::make_shared<Arena>();
  shared_ = shared != nullptr ? std::move(shared) : std::make_shared<Arena>();
  EST_RETURN_IF_ERROR(arena_->Reserve(impl_.plan.arena_bytes));
  EST_RETURN_IF_ERROR(shared_->Reserve(impl_.plan.shared_bytes));
  derived_ = std::move(derived);
  if (derived_ == nullptr) {
    EST_ASSIGN_OR_RETURN(derived_, DerivedValues::Create(impl_.code, module.variables,
                                                         impl_.plan.derived_bytes, store_));
  }
  for (const ir::Update& update : module.updates) {
    updated_versions_.push_back(
        store_.VersionCounter(ir::At(module.variables, update.variable).name));
  }
  for (const TensorSpec& spec : impl_.plan.own) own_.emplace_back(spec.dtype, spec.shape);
  for (const TensorSpec& spec : impl_.plan.lists) lists_.emplace_back(spec.num_bytes());
  feeds_.resize(module.feeds.size());
  fetches_.resize(module.fetches.size());
  return absl::OkStatus();
}

absl::Status ProgramRun::CheckInitialized() const {
  EST_RETURN_IF_ERROR(store_.Download());  // the program reads the storage itself
  std::vector<std::string> missing;
  for (const auto& [name, initialized] : reads_) {
    if (!*initialized) missing.push_back(*name);
  }
  if (missing.empty()) return absl::OkStatus();
  // The order of nodes says nothing to a user.
  std::sort(missing.begin(), missing.end());
  return FailedPrecondition("the step reads variables that have no value yet: ",
                            JoinSome(missing, 10), "; initialize them or restore a checkpoint");
}

std::optional<int64_t> ProgramRun::GlobalStep() const {
  for (size_t v = 0; v < variables_.size(); ++v) {
    if (impl_.module.variables[v].name != "global_step") continue;
    const Array& value = *variables_[v];
    // A variable of the user's with this name need not be a counter. The backend then counts the
    // steps.
    if (!IsInteger(value.dtype()) || value.num_elements() != 1) return std::nullopt;
    return static_cast<int64_t>(value.AsDouble());
  }
  return std::nullopt;
}

absl::Status ProgramRun::SetFeeds(const std::vector<Array>& feeds) {
  const ir::Module& module = impl_.module;
  if (feeds.size() != module.feeds.size()) {
    return InvalidArgument("the step takes ", module.feeds.size(), " arrays of input, given ",
                           feeds.size());
  }
  for (size_t f = 0; f < feeds.size(); ++f) {
    if (feeds[f].dtype() == module.feeds[f].dtype && feeds[f].shape() == module.feeds[f].shape)
      continue;
    return InvalidArgument(module.feed_names[f], " is fed ", feeds[f].TypeString(), ", but it is ",
                           module.feeds[f].ToString());
  }
  // All feeds are checked before the first one is kept, so a wrong feed leaves those of the step
  // before.
  for (size_t f = 0; f < feeds.size(); ++f) feeds_[f] = feeds[f];
  Bind();
  BindFetches();
  return absl::OkStatus();
}

// Computes the derived values that the step needs and that are not those of the current variables.
absl::Status ProgramRun::RunDerived(Trace* trace) {
  if (impl_.code.derived.empty()) return absl::OkStatus();
  const absl::Span<const char> stale = derived_->FindStale(wanted_);
  for (size_t i = 0; i < stale.size(); ++i) {
    if (!stale[i]) continue;
    EST_RETURN_IF_ERROR(executor_->Run(i, step_, trace));
    derived_->MarkComputed(i);
  }
  return absl::OkStatus();
}

// Checks that the arena still has the values of this run's step.
absl::Status ProgramRun::CheckArena() const {
  if (arena_->user() == this) return absl::OkStatus();
  return FailedPrecondition(
      "another step of the same estimator ran in the middle of this one: call Train, Evaluate and "
      "Predict from hooks, not from host_call or from another thread");
}

absl::Status ProgramRun::RunSegment(int segment, int64_t global_step, int64_t deadline_ns,
                                    const std::function<absl::Status(size_t bucket)>& on_bucket) {
  const OpenMpTeam team;
  EST_RETURN_IF_ERROR(team.status());
  // Another program may have grown the shared arena since the addresses were computed.
  if (segment == 0) {
    if (bound_to_ != std::pair<const char*, const char*>(arena_->data(), shared_->data())) {
      Bind();
      BindFetches();
    }
    // From here on, CheckArena notices a program that runs in this arena between two segments.
    arena_->set_user(this);
  }
  EST_RETURN_IF_ERROR(CheckArena());
  step_ = {.step = global_step,
           .replica = replica_,
           .num_replicas = num_replicas_,
           .deadline_ns = deadline_ns};
  const std::shared_ptr<Trace> trace = ThreadTrace();
  if (segment == 0) EST_RETURN_IF_ERROR(RunDerived(trace.get()));
  const ir::Code::Segment& code = ir::At(impl_.code.segments, segment);
  size_t num_ready = 0;
  const auto report_buckets = [&](int before) {
    while (on_bucket && num_ready < code.buckets.size() && code.buckets[num_ready].ready <= before)
      EST_RETURN_IF_ERROR(on_bucket(num_ready++));
    return absl::OkStatus();
  };
  for (int i = code.begin; i < code.end; ++i) {
    EST_RETURN_IF_ERROR(report_buckets(i));
    const ir::Instruction& instruction = ir::At(impl_.code.instructions, i);
    if (!updates_ && instruction.only_updates) continue;
    // Only fetches that no hook asked for in this run depend on the instruction.
    if (instruction.groups != ir::Instruction::kAlways && (instruction.groups & wanted_) == 0)
      continue;
    EST_RETURN_IF_ERROR(executor_->Run(static_cast<size_t>(i), step_, trace.get()));
  }
  return report_buckets(code.end);
}

absl::Status ProgramRun::ApplyUpdates() {
  const OpenMpTeam team;
  EST_RETURN_IF_ERROR(team.status());
  EST_RETURN_IF_ERROR(CheckArena());
  const ir::Module& module = impl_.module;
  const std::shared_ptr<Trace> trace = ThreadTrace();
  // A step that has come so far ends.
  step_.deadline_ns = 0;
  // Before the first write, so that what is derived from the old values is stale even if an
  // instruction fails.
  for (uint64_t* const version : updated_versions_) ++*version;
  for (size_t i = static_cast<size_t>(impl_.code.updates_begin); i < impl_.code.instructions.size();
       ++i) {
    EST_RETURN_IF_ERROR(executor_->Run(i, step_, trace.get()));
  }
  // The copies come last, because instructions of the update phase may read the old values.
  for (const int u : impl_.schedule.copies) {
    const ir::Update& update = ir::At(module.updates, u);
    Array& variable = *ir::At(variables_, update.variable);
    ir::CopyElements(variable.dtype(), variable.num_elements(),
                     executor_->address(impl_.plan.buffer(update.value)), variable.raw());
  }
  // The store is asked by name, which takes too long for every step.
  if (!marked_) {
    for (const ir::Update& update : module.updates) {
      store_.MarkInitialized(ir::At(module.variables, update.variable).name);
    }
    marked_ = true;
  }
  // The sweep has written the copies of the new values, so that no step computes them.
  for (size_t i = static_cast<size_t>(impl_.code.updates_begin); i < impl_.code.instructions.size();
       ++i) {
    for (const int copy : impl_.code.instructions[i].copies)
      derived_->MarkComputed(static_cast<size_t>(copy));
  }
  return absl::OkStatus();
}

}  // namespace estimator
