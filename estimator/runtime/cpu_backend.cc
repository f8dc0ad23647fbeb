#include "estimator/runtime/cpu_backend.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/runtime/compile_that_fits.h"

namespace estimator {
namespace {

class CpuExecutable : public Executable {
 public:
  CpuExecutable(std::shared_ptr<const Program> program, std::unique_ptr<ProgramRun> run)
      : program_(std::move(program)), run_(std::move(run)), fetches_(1) {}

  absl::StatusOr<int64_t> RunLoop(int64_t num_steps, const Infeed& infeed,
                                  const Outfeed& outfeed) override {
    EST_RETURN_IF_ERROR(run_->CheckInitialized());
    for (int64_t step = 0; step < num_steps; ++step) {
      std::optional<StepFeeds> given;
      if (infeed) {
        EST_ASSIGN_OR_RETURN(given, infeed());
        if (!given.has_value()) return step;
      }
      const StepFeeds* const feeds = infeed ? &*given : &no_feeds_;
      if (feeds->size() != 1) {
        return absl::InvalidArgumentError(absl::StrCat("the input is split for ", feeds->size(),
                                                       " replicas, but the CPU backend runs 1"));
      }
      EST_RETURN_IF_ERROR(RunStep((*feeds)[0]));
      if (outfeed) {
        fetches_[0] = run_->fetches();
        EST_RETURN_IF_ERROR(outfeed(step, fetches_));
      }
      EST_RETURN_IF_ERROR(run_->ApplyUpdates());
      ++num_runs_;
    }
    return num_steps;
  }

  void WantFetches(FetchGroups groups) override { run_->WantFetches(groups); }
  const ExecutableInfo& info() const override { return program_->info(); }

 private:
  absl::Status RunStep(const std::vector<Array>& feeds) {
    EST_RETURN_IF_ERROR(run_->SetFeeds(feeds));
    const int64_t global_step = run_->GlobalStep().value_or(num_runs_);
    for (int segment = 0; segment < program_->num_segments(); ++segment) {
      EST_RETURN_IF_ERROR(run_->RunSegment(segment, global_step));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const Program> program_;
  const std::unique_ptr<ProgramRun> run_;
  const StepFeeds no_feeds_ = StepFeeds(1);
  StepFetches fetches_;
  int64_t num_runs_ = 0;
};

class CpuBackend : public Backend {
 public:
  CpuBackend(VariableStore& store, CompileOptions options, std::shared_ptr<const Arenas> arenas)
      : store_(store), options_(options), arenas_(1) {
    if (arenas != nullptr) arenas_.own[0] = arenas->own[0];
    options_.single_replica = true;  // a sum over one replica is a copy, which can be removed
  }

  std::string name() const override { return "CPU"; }
  int num_replicas() const override { return 1; }
  VariableStore& variables() override { return store_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                      const ProgramSpec& spec) override {
    EST_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                         CompileThatFits(graph, spec, options_, arenas_));
    EST_ASSIGN_OR_RETURN(std::unique_ptr<ProgramRun> run,
                         ProgramRun::Create(program, store_, 0, 1, arenas_.own[0]));
    return std::make_unique<CpuExecutable>(std::move(program), std::move(run));
  }

 private:
  VariableStore& store_;
  CompileOptions options_;
  Arenas arenas_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options,
                                        std::shared_ptr<const Arenas> arenas) {
  return std::make_unique<CpuBackend>(store, std::move(options), std::move(arenas));
}

}  // namespace estimator
