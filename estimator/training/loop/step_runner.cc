#include "estimator/training/loop/step_runner.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/training/model/replica_reduce.h"
#include "glog/logging.h"

namespace estimator {

// Indices into the fetches of the compiled step.
struct StepRunner::Fetches {
  std::vector<size_t> loop;  // Request::fetches
  std::vector<size_t> host_call;
  std::vector<std::vector<size_t>> hooks;  // for each hook
  std::vector<size_t> for_hooks;           // of all hooks, on all ranks, in order
};

namespace {

// What a rank says of the step that it has run.
constexpr uint64_t kInterruptFlag = 1, kInputEndedFlag = 2, kLastStepFlag = 4;

}  // namespace

StepRunner::StepRunner(Session& session, Hooks hooks, Options options)
    : session_(session), hooks_(std::move(hooks)), options_(options) {}

absl::Status StepRunner::Begin(Graph& graph) {
  for (const auto& hook : hooks_) EST_RETURN_IF_ERROR(hook->Begin(graph));
  return absl::OkStatus();
}

absl::Status StepRunner::AfterCreateSession() {
  for (const auto& hook : hooks_) EST_RETURN_IF_ERROR(hook->AfterCreateSession(session_));
  return absl::OkStatus();
}

absl::Status StepRunner::End(const std::function<void(const HookPtr&)>& ended) {
  for (const auto& hook : hooks_) {
    EST_RETURN_IF_ERROR(hook->End(session_));
    if (ended) ended(hook);
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Prepare(CompiledStep& step, const std::vector<Tensor>& fetches) {
  for (const Tensor& tensor : fetches) step.Fetch(tensor);
  if (step.model().spec.host_call.has_value()) {
    for (const Tensor& tensor : step.model().spec.host_call->tensors) step.Fetch(tensor);
  }
  for (const auto& hook : hooks_)
    EST_RETURN_IF_ERROR(FetchForHook(step, "Fetches", hook->Fetches()).status());
  prepared_ = &step;
  return step.model().graph->status();
}

absl::StatusOr<StepRunner::Fetches> StepRunner::Register(const Request& request,
                                                         RunContext& context) const {
  CompiledStep& step = request.step;
  Fetches fetches;
  for (const Tensor& tensor : request.fetches) fetches.loop.push_back(step.Fetch(tensor));
  if (step.model().spec.host_call.has_value()) {
    for (const Tensor& tensor : step.model().spec.host_call->tensors)
      fetches.host_call.push_back(step.Fetch(tensor));
  }
  for (const auto& hook : hooks_) {
    EST_ASSIGN_OR_RETURN(std::vector<size_t> of_hook,
                         FetchForHook(step, "BeforeRun", hook->BeforeRun(context)));
    fetches.hooks.push_back(std::move(of_hook));
  }
  EST_RETURN_IF_ERROR(step.model().graph->status());
  return fetches;
}

// The indices of the tensors that a hook's `method` returned.
absl::StatusOr<std::vector<size_t>> StepRunner::FetchForHook(
    CompiledStep& step, absl::string_view method, const std::vector<Tensor>& tensors) const {
  Graph& graph = *step.model().graph;
  std::vector<size_t> indices;
  for (const Tensor& tensor : tensors) {
    if (!tensor.valid()) {
      // The graph's error says why the tensor is not valid, if the hook made it here.
      EST_RETURN_IF_ERROR(graph.status());
      return InvalidArgument("a hook's ", method,
                             " returned a tensor that is not valid: it is default-constructed, or "
                             "Graph::FindTensor did not find it");
    }
    // Hooks hold tensors of the session's graph. Another model has the same names.
    const Tensor here = &graph == &session_.graph() ? tensor
                        : tensor == options_.loss   ? step.model().spec.loss
                                                    : graph.FindTensor(tensor.name());
    if (!here.valid()) {
      return InvalidArgument("a hook asks for '", tensor.name(),
                             "', which the model for batches of another shape does not have. "
                             "Hooks add nodes to the model of the first batch only: make the "
                             "tensor in model_fn");
    }
    indices.push_back(step.Fetch(here, CompiledStep::When::kSometimes));
  }
  return indices;
}

absl::Status StepRunner::AgreeOnFetches(const Request& request, const absl::Status& registered,
                                        Fetches& fetches) {
  // Every rank compiles and computes what the hooks of any of them ask for: the programs must be
  // the same, and a value is that of the replicas of all ranks.
  absl::Status mine = registered;
  const absl::StatusOr<const StepInput*> next = request.input.Peek();
  mine.Update(next.status());
  // Batches of another shape have another program.
  StateWriter turn;
  turn.Bytes(next.ok() && *next != nullptr ? (*next)->replicas[0].ToString() : "");
  for (const std::vector<size_t>& of_hook : fetches.hooks) {
    for (const size_t index : of_hook) turn.Bytes(request.step.fetch(index).name());
  }
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       options_.peers->Exchange("the start of a run", mine, turn.bytes()));
  std::string of_chief;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    StateReader reader(all[rank]);
    EST_ASSIGN_OR_RETURN(const absl::string_view shape, reader.Bytes());
    if (rank == 0) of_chief = std::string(shape);
    if (shape != of_chief) {
      const auto has = [](absl::string_view batch) {
        return batch.empty() ? "no more batches" : batch;
      };
      return InvalidArgument("the processes have batches of different shapes at step ",
                             session_.global_step(), ": ", options_.peers->Name(0), " has ",
                             has(of_chief), ", ", options_.peers->Name(static_cast<int>(rank)),
                             " has ", has(shape),
                             options_.input_per_host ? "; batch with .drop_remainder"
                                                     : "; all must read the same examples");
    }
    while (reader.remaining() > 0) {
      EST_ASSIGN_OR_RETURN(const absl::string_view name, reader.Bytes());
      const Tensor tensor = request.step.model().graph->FindTensor(name);
      if (!tensor.valid()) {
        return InvalidArgument("a hook of ", options_.peers->Name(static_cast<int>(rank)),
                               " asks for '", name, "', which the model of ",
                               options_.peers->Name(options_.peers->rank()), " does not have");
      }
      fetches.for_hooks.push_back(request.step.Fetch(tensor, CompiledStep::When::kSometimes));
    }
  }
  return absl::OkStatus();
}

StepRun StepRunner::RunSteps(const Request& request, const Fetches& fetches, Executable& executable,
                             std::vector<std::vector<Array>>& hook_results) {
  StepRun run;
  const bool divided = !alone() && !request.on_each_rank;  // among the ranks
  // The steps that were read and are not applied: one step on the CPU, a loop's steps on a device.
  struct PendingStep {
    std::string position;  // in the input
    int64_t num_examples = 0;
    StepFeeds feeds;
  };
  std::deque<PendingStep> pending;
  int64_t num_read = 0;
  bool all_end = false;                     // that all ranks end the run after this step
  std::vector<std::string> next_positions;  // of the step after the one that ran, on all ranks
  // A step takes a part of its examples from the input of each rank.
  const int64_t num_inputs = options_.input_per_host && !alone() ? options_.peers->size() : 1;
  // A step of another shape ends the run, and is the first of the next one.
  const auto is_of_step = [&](const StepInput& input) {
    const BuiltModel& model = request.step.model();
    return HasSlots(input.replicas[0], model.slots, model.spec.mode);
  };
  const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
    // An interrupt ends the loop as the end of the input does: the steps before it are applied.
    if (run.end == RunEnd::kInterrupted || all_end) return std::optional<StepFeeds>();
    const AddSeconds waiting(session_.times().input);
    const auto next = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      EST_ASSIGN_OR_RETURN(const StepInput* const peeked, request.input.Peek());
      if (peeked == nullptr) run.end = RunEnd::kInputEnded;
      if (peeked == nullptr || (num_read > 0 && !is_of_step(*peeked)))
        return std::optional<StepFeeds>();
      ++num_read;
      EST_ASSIGN_OR_RETURN(const std::optional<StepInput> input, request.input.Next());
      // Before Feeds, which may fail: training then continues with this step.
      pending.push_back(
          {.position = input->position, .num_examples = input->num_examples, .feeds = {}});
      EST_ASSIGN_OR_RETURN(pending.back().feeds, request.step.Feeds(*input));
      return std::optional<StepFeeds>(pending.back().feeds);
    };
    absl::StatusOr<std::optional<StepFeeds>> result = next();
    if (!result.ok()) run.end = RunEnd::kInputFailed;
    return result;
  };
  // Whether the step that ran is the run's last one. An input that fails here fails again at the
  // next infeed, which reports it.
  const auto is_last = [&](int64_t step) {
    if (step + 1 == request.num_steps) return true;
    // A signal that comes later stops the run after the next step: only here is it certain that the
    // hooks get the results of the last one.
    if (InterruptRequested()) {
      run.end = RunEnd::kInterrupted;
      return true;
    }
    const AddSeconds waiting(session_.times().input);
    const absl::StatusOr<const StepInput*> next = request.input.Peek();
    return !next.ok() || *next == nullptr || !is_of_step(**next);
  };
  const std::optional<HostCall>& host_call = request.step.model().spec.host_call;
  StepFetches of_all_ranks;
  // All ranks learn the values of all replicas, and whether one of them cannot go on.
  const auto exchange = [&](int64_t step, const StepFetches& mine, bool calls_host) {
    next_positions.clear();
    const bool is_mine_last = is_last(step);
    uint64_t flags = is_mine_last ? kLastStepFlag : 0;
    if (InterruptRequested()) flags |= kInterruptFlag;
    const absl::StatusOr<const StepInput*> next = request.input.Peek();
    if (next.ok() && *next == nullptr) flags |= kInputEndedFlag;
    std::vector<size_t> indices = fetches.loop;
    if (calls_host)
      indices.insert(indices.end(), fetches.host_call.begin(), fetches.host_call.end());
    const std::string position =
        options_.input_per_host ? request.input.Position().value_or("") : "";
    const absl::StatusOr<std::vector<Peers::StepNote>> notes =
        options_.peers->GatherFetches("a step", mine, indices, options_.accumulate_steps,
                                      {.flags = flags, .position = position}, of_all_ranks);
    if (!notes.ok()) return notes.status();
    uint64_t joined = 0;
    for (const Peers::StepNote& note : *notes) {
      joined |= note.flags;
      next_positions.push_back(note.position);
    }
    all_end = joined != 0;
    if ((joined & kInterruptFlag) != 0) {
      run.end = RunEnd::kInterrupted;
      // The signal of one process stops all, each of them as if it had got it.
      RequestInterrupt();
    } else if ((joined & kInputEndedFlag) != 0 && step + 1 < request.num_steps) {
      run.end = RunEnd::kInputEnded;
    }
    return absl::OkStatus();
  };
  const Outfeed outfeed = [&](int64_t step, const StepFetches& of_this_rank) -> absl::Status {
    const bool calls_host = host_call.has_value() && step % options_.host_call_every_n_steps == 0;
    if (divided) EST_RETURN_IF_ERROR(exchange(step, of_this_rank, calls_host));
    const StepFetches& all = divided ? of_all_ranks : of_this_rank;
    const auto reduced = [&](const std::vector<size_t>& indices, bool copied) {
      std::vector<Array> values;
      values.reserve(indices.size());
      for (const size_t index : indices) {
        const std::vector<Array> parts = FetchOfReplicas(all, index, options_.broadcast);
        values.push_back(copied ? ReduceReplicasToCopy(parts) : ReduceReplicas(parts));
      }
      return values;
    };
    // The functions of users get copies, because they may keep the arrays.
    if (calls_host && (alone() || options_.peers->is_chief())) {
      const absl::Status called = host_call->fn(reduced(fetches.host_call, true));
      if (!called.ok()) {
        run.end = RunEnd::kHostCallFailed;
        return called;
      }
    }
    StepVerdict verdict = StepVerdict::kApply;
    if (request.on_step) {
      // The loops look at their values during this call only, so these need no copy.
      EST_ASSIGN_OR_RETURN(
          verdict, request.on_step({.values = reduced(fetches.loop, request.keeps_values),
                                    .feeds = pending.front().feeds,
                                    .num_examples = pending.front().num_examples * num_inputs}));
    }
    // Hooks get the results of the last step only, so those of the others are not copied.
    if (verdict == StepVerdict::kDiscard || (divided ? all_end : is_last(step))) {
      if (divided && !fetches.for_hooks.empty()) {
        EST_RETURN_IF_ERROR(options_.peers
                                ->GatherFetches("the tensors of hooks", of_this_rank,
                                                fetches.for_hooks, options_.accumulate_steps, {},
                                                of_all_ranks)
                                .status());
      }
      hook_results.clear();
      for (const std::vector<size_t>& indices : fetches.hooks)
        hook_results.push_back(reduced(indices, true));
    }
    if (verdict == StepVerdict::kDiscard) {
      run.end = RunEnd::kStepDiscarded;
      return absl::AbortedError("the loop discarded the step");  // ends RunLoop without updates
    }
    pending.pop_front();
    ++run.num_steps;
    // A peer that is lost in the next step leaves this one applied.
    if (divided) positions_ = next_positions;
    return absl::OkStatus();
  };

  const double waited_before = session_.times().input;
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = executable.RunLoop(request.num_steps, infeed, outfeed).status();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // RunLoop calls the infeed, whose time is counted as that of the input.
  session_.times().compute += run.seconds - (session_.times().input - waited_before);
  run.seconds += request.waited_seconds;
  if (!status.ok() && run.end != RunEnd::kStepDiscarded) {
    if (run.end != RunEnd::kInputFailed && run.end != RunEnd::kHostCallFailed) {
      run.end = RunEnd::kFailed;
    }
    run.status = status;
  }
  run.input_positions = positions_;
  // A step that was read and not applied is the next one.
  if (!pending.empty()) {
    run.input_position = std::move(pending.front().position);
    return run;
  }
  absl::StatusOr<std::string> position = request.input.Position();
  if (position.ok()) {
    run.input_position = *std::move(position);
  } else if (run.status.ok()) {
    run.end = RunEnd::kFailed;
    run.status = position.status();
  }
  return run;
}

absl::StatusOr<StepRun> StepRunner::Run(const Request& request) {
  RunContext context(session_, session_.global_step());
  // Batches of another shape have a step of their own, which may be at the address of an older one.
  if (prepared_ != &request.step || request.step.num_fetches() == 0)
    EST_RETURN_IF_ERROR(Prepare(request.step, request.fetches));
  absl::StatusOr<Fetches> registered = Register(request, context);
  Fetches fetches;
  if (registered.ok()) fetches = *std::move(registered);
  if (alone()) {
    EST_RETURN_IF_ERROR(registered.status());
  } else {
    EST_RETURN_IF_ERROR(AgreeOnFetches(request, registered.status(), fetches));
  }
  EST_ASSIGN_OR_RETURN(Executable* const executable, request.step.executable());
  FetchGroups wanted = request.step.GroupsOf(fetches.for_hooks);
  for (const std::vector<size_t>& of_hook : fetches.hooks) wanted |= request.step.GroupsOf(of_hook);
  executable->WantFetches(wanted);
  std::vector<std::vector<Array>> hook_results(hooks_.size());
  StepRun run = RunSteps(request, fetches, *executable, hook_results);
  // Before the error is returned: the loop has to know which steps are applied.
  if (request.on_run) EST_RETURN_IF_ERROR(request.on_run(run));
  EST_RETURN_IF_ERROR(run.status);
  if (run.end == RunEnd::kInputEnded && run.num_steps == 0) return run;

  RunValues values{.results = {},
                   .global_step = session_.global_step(),
                   .num_steps = run.num_steps,
                   .loss_not_finite = run.end == RunEnd::kStepDiscarded,
                   .seconds = run.seconds};
  for (size_t i = 0; i < hooks_.size(); ++i) {
    values.results = std::move(hook_results[i]);
    EST_RETURN_IF_ERROR(hooks_[i]->AfterRun(context, values));
  }
  run.stop_requested = context.stop_requested();
  return run;
}

}  // namespace estimator
