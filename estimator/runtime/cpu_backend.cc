#include "estimator/runtime/cpu_backend.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/runtime/compile_that_fits.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "estimator/runtime/replicas/replica_layout.h"
#include "estimator/runtime/replicas/replica_sums.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The variables that take the new values of replica 0, on all processes.
class SharedUpdates {
 public:
  // Errors: UNIMPLEMENTED for strings.
  static absl::StatusOr<SharedUpdates> Create(const Program& program, VariableStore& store) {
    SharedUpdates updates;
    for (const std::string& name : program.replica_updates()) {
      const Array* const value = store.Peek(name);
      if (value->dtype() == DType::kString) {
        return Unimplemented("'", name, "' is a variable of strings that takes a value of one ",
                             "replica: such updates are for one process");
      }
      EST_ASSIGN_OR_RETURN(Array* const array,
                           store.Allocate(name, {value->dtype(), value->shape()}));
      updates.variables_.push_back({array, store.VersionCounter(name)});
    }
    return updates;
  }

  absl::Status Share(ProcessGroup& group) const {
    if (variables_.empty()) return absl::OkStatus();
    std::string bytes;
    if (group.rank() == 0) {
      for (const auto& [array, version] : variables_)
        bytes.append(static_cast<const char*>(array->raw()), array->num_bytes());
    }
    EST_ASSIGN_OR_RETURN(bytes, group.Broadcast(bytes));
    const char* from = bytes.data();
    for (const auto& [array, version] : variables_) {
      std::memcpy(array->raw(), from, array->num_bytes());
      from += array->num_bytes();
      // What was derived from this process' own value is stale.
      ++*version;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::pair<Array*, uint64_t*>> variables_;
};

class CpuExecutable : public Executable {
 public:
  // REQUIRES: `group` is not null if the layout has several processes.
  CpuExecutable(std::shared_ptr<const Program> program,
                std::vector<std::unique_ptr<ProgramRun>> runs, const ReplicaLayout& layout,
                std::shared_ptr<ProcessGroup> group, SharedUpdates shared_updates,
                double step_timeout_secs)
      : program_(std::move(program)),
        step_timeout_secs_(step_timeout_secs),
        runs_(std::move(runs)),
        group_(std::move(group)),
        sums_(layout, group_, runs_),
        shared_updates_(std::move(shared_updates)),
        info_(program_->info()),
        no_feeds_(runs_.size()),
        fetches_(runs_.size()) {
    info_.num_replicas = layout.num_replicas();
  }

  absl::StatusOr<int64_t> RunLoop(int64_t num_steps, const Infeed& infeed,
                                  const Outfeed& outfeed) override {
    EST_RETURN_IF_ERROR(runs_[0]->CheckInitialized());
    if (group_ != nullptr && !agreed_) EST_RETURN_IF_ERROR(AgreeOnProgram());
    for (int64_t step = 0; step < num_steps; ++step) {
      std::optional<StepFeeds> given;
      if (infeed) {
        EST_ASSIGN_OR_RETURN(given, infeed());
        if (!given.has_value()) return step;
      }
      EST_RETURN_IF_ERROR(Leave(RunStep(infeed ? *given : no_feeds_)));
      // The outfeed comes before the updates: if it fails, the step changes no variable.
      if (outfeed) {
        for (size_t i = 0; i < runs_.size(); ++i) fetches_[i] = runs_[i]->fetches();
        EST_RETURN_IF_ERROR(outfeed(step, fetches_));
      }
      // The replicas share the variables, so one replica's updates are enough.
      EST_RETURN_IF_ERROR(Leave(runs_[0]->ApplyUpdates()));
      if (group_ != nullptr) EST_RETURN_IF_ERROR(shared_updates_.Share(*group_));
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
  static uint32_t Checksum(const Program& program) {
    uint32_t crc = Crc32c(program.Plan());
    for (const auto& [name, spec] : program.variables()) crc = ExtendCrc32c(crc, name);
    return crc;
  }

  // After an error in a step, the other ranks would wait for this one's sums.
  absl::Status Leave(absl::Status status) const {
    if (!status.ok() && group_ != nullptr) group_->Abandon(status.message());
    return status;
  }

  // Errors: FAILED_PRECONDITION if another process runs another program.
  absl::Status AgreeOnProgram() {
    const std::string own = absl::StrCat(Checksum(*program_));
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> all, group_->AllGather(own));
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank] == own) continue;
      return FailedPrecondition(
          "rank ", rank, " (", group_->host(static_cast<int>(rank)),
          ") runs another step than rank ", group_->rank(), " (", group_->host(group_->rank()),
          "): start all processes with the same program and flags, and give all batches of a step "
          "one shape");
    }
    agreed_ = true;
    return absl::OkStatus();
  }

  absl::Status RunStep(const StepFeeds& feeds) {
    if (feeds.size() != runs_.size()) {
      return InvalidArgument("the input is split for ", feeds.size(),
                             " replicas, but the backend runs ", runs_.size());
    }
    for (size_t i = 0; i < runs_.size(); ++i) EST_RETURN_IF_ERROR(runs_[i]->SetFeeds(feeds[i]));
    // Random ops depend on the step. A program without global_step counts its own.
    const int64_t global_step = runs_[0]->GlobalStep().value_or(num_runs_);
    const int64_t deadline_ns = DeadlineAfter(step_timeout_secs_);
    // All replicas finish a segment before its sums: every input of a sum is then computed. A
    // bucket is sent as soon as the last replica has computed it.
    for (int segment = 0; segment < program_->num_segments(); ++segment) {
      const std::vector<CollectiveBucket>& buckets = program_->buckets(segment);
      const auto start = [&](size_t bucket) { return sums_.Start(buckets[bucket]); };
      absl::Status status;
      for (const auto& run : runs_) {
        status = run == runs_.back() && !buckets.empty()
                     ? run->RunSegment(segment, global_step, deadline_ns, start)
                     : run->RunSegment(segment, global_step, deadline_ns);
        if (!status.ok()) break;
      }
      // Before Finish, which waits for the others.
      if (!status.ok()) (void)Leave(status);
      // Also after an error: nothing may run in the background when the loop returns.
      const absl::Status finished = sums_.Finish(buckets);
      EST_RETURN_IF_ERROR(status);
      EST_RETURN_IF_ERROR(finished);
      for (const Collective& collective : program_->collectives(segment))
        EST_RETURN_IF_ERROR(sums_.Sum(collective));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const Program> program_;
  const double step_timeout_secs_;
  const std::vector<std::unique_ptr<ProgramRun>> runs_;
  const std::shared_ptr<ProcessGroup> group_;  // null: the replicas are those of this process
  ReplicaSums sums_;
  const SharedUpdates shared_updates_;
  ExecutableInfo info_;
  bool agreed_ = false;  // that all processes run this program
  const StepFeeds no_feeds_;
  StepFetches fetches_;
  int64_t num_runs_ = 0;
};

class CpuBackend : public Backend {
 public:
  CpuBackend(VariableStore& store, CompileOptions options,
             const std::shared_ptr<const Arenas>& arenas, const ReplicaLayout& layout,
             std::shared_ptr<ProcessGroup> group)
      : store_(store),
        options_(std::move(options)),
        layout_(layout),
        group_(std::move(group)),
        arenas_(arenas == nullptr ? Arenas(layout.num_local) : *arenas) {
    const auto num_local = static_cast<size_t>(layout_.num_local);
    CHECK_GE(arenas_.own.size(), num_local);
    // The backend of the last, smaller batch has one replica and gets the arenas of all of them.
    arenas_.own.resize(num_local);
    // A sum over one replica is a copy, which can be removed.
    options_.single_replica = layout_.num_replicas() == 1;
    options_.buckets = group_ != nullptr && layout_.HasSubtrees();
  }

  std::string name() const override {
    if (layout_.num_replicas() == 1) return "CPU";
    return group_ == nullptr ? absl::StrCat(num_replicas(), " in-process replicas")
                             : absl::StrCat(layout_.num_replicas(), " replicas in ", group_->size(),
                                            " processes");
  }
  int num_replicas() const override { return layout_.num_local; }
  VariableStore& variables() override { return store_; }

  absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                      const ProgramSpec& spec) override {
    EST_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                         CompileThatFits(graph, spec, options_, arenas_));
    EST_RETURN_IF_ERROR(ReserveBuckets(program->bucket_bytes()));
    std::vector<std::unique_ptr<ProgramRun>> runs;
    for (int i = 0; i < layout_.num_local; ++i) {
      // Derived values depend on the variables only, which all replicas share.
      EST_ASSIGN_OR_RETURN(
          std::unique_ptr<ProgramRun> run,
          ProgramRun::Create(program, store_, layout_.Number(i), layout_.num_replicas(),
                             arenas_.own[static_cast<size_t>(i)], arenas_.shared,
                             i == 0 ? nullptr : runs[0]->derived_values(), i == 0));
      if (program->bucket_bytes() > 0) run->set_bucket_memory(buckets_[static_cast<size_t>(i)]);
      runs.push_back(std::move(run));
    }
    SharedUpdates shared_updates;
    if (group_ != nullptr) {
      EST_ASSIGN_OR_RETURN(shared_updates, SharedUpdates::Create(*program, store_));
    }
    return std::make_unique<CpuExecutable>(std::move(program), std::move(runs), layout_, group_,
                                           std::move(shared_updates), options_.step_timeout_secs);
  }

 private:
  // Programs take turns, and share this memory. It does not move: older programs keep theirs.
  absl::Status ReserveBuckets(int64_t bytes) {
    if (bytes <= bucket_bytes_) return absl::OkStatus();
    buckets_.clear();
    // The processes sum what is in the first one.
    EST_ASSIGN_OR_RETURN(void* const shared, group_->SharedBuffer(bytes));
    buckets_.push_back(static_cast<char*>(shared));
    for (int i = 1; i < layout_.num_local; ++i) {
      bucket_arenas_.push_back(std::make_unique<Arena>());
      EST_RETURN_IF_ERROR(bucket_arenas_.back()->Reserve(bytes));
      buckets_.push_back(bucket_arenas_.back()->data());
      // The gaps between the tensors are summed too.
      std::memset(buckets_.back(), 0, static_cast<size_t>(bytes));
    }
    bucket_bytes_ = bytes;
    return absl::OkStatus();
  }

  VariableStore& store_;
  CompileOptions options_;
  const ReplicaLayout layout_;
  const std::shared_ptr<ProcessGroup> group_;
  Arenas arenas_;
  std::vector<std::unique_ptr<Arena>> bucket_arenas_;
  std::vector<char*> buckets_;  // of each replica
  int64_t bucket_bytes_ = 0;    // of each of them
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options,
                                        std::shared_ptr<const Arenas> arenas, int num_replicas) {
  return MakeCpuBackend(store, std::move(options), std::move(arenas), num_replicas, nullptr);
}

std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options,
                                        std::shared_ptr<const Arenas> arenas, int num_replicas,
                                        std::shared_ptr<ProcessGroup> group, int accumulate_steps) {
  CHECK_EQ(num_replicas % accumulate_steps, 0);
  ReplicaLayout layout{.num_local = num_replicas, .accumulate_steps = accumulate_steps};
  if (group != nullptr && group->size() > 1) {
    layout.rank = group->rank();
    layout.num_processes = group->size();
    if (!layout.HasSubtrees() && group->rank() == 0) {
      LOG(WARNING) << "each process has " << num_replicas
                   << " replicas, so the processes exchange the gradients of all "
                   << layout.num_replicas()
                   << ": with 1, 2, 4, 8, ... in each, they exchange one sum each";
    }
  } else {
    group = nullptr;
  }
  return std::make_unique<CpuBackend>(store, std::move(options), arenas, layout, std::move(group));
}

}  // namespace estimator
