#include "estimator/runtime/cpu_backend.h"

#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/status.h"
#include "estimator/runtime/compile_that_fits.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "glog/logging.h"

namespace estimator {
namespace {

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::shared_ptr<const Program> program,
                std::vector<std::unique_ptr<ProgramRun>> runs, double step_timeout_secs)
      : program_(std::move(program)),
        step_timeout_secs_(step_timeout_secs),
        runs_(std::move(runs)),
        info_(program_->info()),
        no_feeds_(runs_.size()),
        fetches_(runs_.size()) {
    info_.num_replicas = static_cast<int>(runs_.size());
  }

  absl::StatusOr<int64_t> RunLoop(int64_t num_steps, const Infeed& infeed,
                                  const Outfeed& outfeed) override {
    EST_RETURN_IF_ERROR(runs_[0]->CheckInitialized());
    for (int64_t step = 0; step < num_steps; ++step) {
      std::optional<StepFeeds> given;
      if (infeed) {
        EST_ASSIGN_OR_RETURN(given, infeed());
        if (!given.has_value()) return step;
      }
      EST_RETURN_IF_ERROR(RunStep(infeed ? *given : no_feeds_));
      // The outfeed comes before the updates: if it fails, the step changes no variable.
      if (outfeed) {
        for (size_t i = 0; i < runs_.size(); ++i) fetches_[i] = runs_[i]->fetches();
        EST_RETURN_IF_ERROR(outfeed(step, fetches_));
      }
      // The replicas share the variables, so one replica's updates are enough.
      EST_RETURN_IF_ERROR(runs_[0]->ApplyUpdates());
      // A step that failed does not count, so the next one draws the same random numbers.
      ++num_runs_;
    }
    return num_steps;
  }

  void WantFetches(FetchGroups groups) override {
    for (const auto& run : runs_) run->WantFetches(groups);
  }
  const ExecutableInfo& info() const override { return info_; }

 private:
  absl::Status RunStep(const StepFeeds& feeds) {
    if (feeds.size() != runs_.size()) {
      return InvalidArgument("the input is split for ", feeds.size(),
                             " replicas, but the backend runs ", runs_.size());
    }
    for (size_t i = 0; i < runs_.size(); ++i) EST_RETURN_IF_ERROR(runs_[i]->SetFeeds(feeds[i]));
    // Random ops depend on the step. A program without global_step counts its own.
    const int64_t global_step = runs_[0]->GlobalStep().value_or(num_runs_);
    const int64_t deadline_ns = DeadlineAfter(step_timeout_secs_);
    // All replicas finish a segment before its sums: every input of a sum is then computed.
    for (int segment = 0; segment < program_->num_segments(); ++segment) {
      for (const auto& run : runs_)
        EST_RETURN_IF_ERROR(run->RunSegment(segment, global_step, deadline_ns));
      for (const Collective& collective : program_->collectives(segment))
        EST_RETURN_IF_ERROR(Reduce(collective));
    }
    return absl::OkStatus();
  }

  absl::Status Reduce(const Collective& collective) {
    std::vector<std::vector<int64_t>> groups = collective.groups;
    if (groups.empty()) {  // no groups means one group of all replicas
      groups.emplace_back(runs_.size());
      std::iota(groups[0].begin(), groups[0].end(), 0);
    }
    for (const std::vector<int64_t>& group : groups) {
      std::vector<const void*> inputs;
      std::vector<void*> outputs;
      for (const int64_t replica : group) {
        ProgramRun& run = *runs_[static_cast<size_t>(replica)];
        inputs.push_back(run.buffer(collective.input));
        outputs.push_back(run.buffer(collective.output));
      }
      const TensorSpec& spec = collective.spec;
      EST_RETURN_IF_ERROR(
          TreeSum(spec.dtype, spec.dtype, spec.shape.num_elements(), inputs, outputs));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const Program> program_;
  const double step_timeout_secs_;
  const std::vector<std::unique_ptr<ProgramRun>> runs_;
  ExecutableInfo info_;
  const StepFeeds no_feeds_;
  StepFetches fetches_;
  int64_t num_runs_ = 0;
};

class CpuBackend : public Backend {
 public:
  CpuBackend(VariableStore& store, CompileOptions options,
             const std::shared_ptr<const Arenas>& arenas, int num_replicas)
      : store_(store),
        options_(std::move(options)),
        arenas_(arenas == nullptr ? Arenas(num_replicas) : *arenas) {
    CHECK_GE(arenas_.own.size(), static_cast<size_t>(num_replicas));
    // The backend of the last, smaller batch has one replica and gets the arenas of all of them.
    arenas_.own.resize(static_cast<size_t>(num_replicas));
    // A sum over one replica is a copy, which can be removed.
    options_.single_replica = num_replicas == 1;
  }

  std::string name() const override {
    return num_replicas() == 1 ? "CPU" : absl::StrCat(num_replicas(), " in-process replicas");
  }
  int num_replicas() const override { return static_cast<int>(arenas_.own.size()); }
  VariableStore& variables() override { return store_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                      const ProgramSpec& spec) override {
    EST_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                         CompileThatFits(graph, spec, options_, arenas_));
    std::vector<std::unique_ptr<ProgramRun>> runs;
    for (int i = 0; i < num_replicas(); ++i) {
      // Derived values depend on the variables only, which all replicas share.
      EST_ASSIGN_OR_RETURN(std::unique_ptr<ProgramRun> run,
                           ProgramRun::Create(program, store_, i, num_replicas(),
                                              arenas_.own[static_cast<size_t>(i)], arenas_.shared,
                                              i == 0 ? nullptr : runs[0]->derived_values()));
      runs.push_back(std::move(run));
    }
    return std::make_unique<CpuExecutable>(std::move(program), std::move(runs),
                                           options_.step_timeout_secs);
  }

 private:
  VariableStore& store_;
  CompileOptions options_;
  Arenas arenas_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options,
                                        std::shared_ptr<const Arenas> arenas, int num_replicas) {
  return std::make_unique<CpuBackend>(store, std::move(options), arenas, num_replicas);
}

}  // namespace estimator
