// Program: a graph compiled to a flat list of instructions over one arena.
//
// Compile runs the passes of runtime/passes/ in this order: prune; fold constants, merge equal
// nodes, simplify; fold pads; row updates; split sums; fuse; choose layouts; compile the bodies of
// loops and branches (compile_module.h); select kernels; sweep updates; derive values; schedule;
// plan memory; emit. A step runs the instructions one after the other. It looks up no names, infers
// no shapes, and allocates only in Eigen's decompositions of matrices and where a list grows
// (control_flow/growing_list.h).
//
// Derived values: what depends on nothing but constants and variables that the step does not update
// is computed before segment 0 of the first step, and kept. Later steps compute it again only if
// VariableStore::version of one of these variables has changed.
//
// Segments: every collective (CrossReplicaSum) of level k runs at the end of segment k. A backend
// with several replicas runs segment k on each, sums (see collective.h), and continues with the
// next segment. With one replica a collective is a copy, if its buffers differ.
//
// Updates: RunSegment changes no variable. The update phase (ApplyUpdates) runs the instructions
// that write variables in place and copies the other new values. One replica of a process runs it,
// after the last segment of all replicas. Other replicas skip instructions that only updates need.
#ifndef ESTIMATOR_RUNTIME_PROGRAM_H_
#define ESTIMATOR_RUNTIME_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/kernels/kernel.h"
#include "estimator/runtime/arena.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/collective.h"
#include "estimator/runtime/compile_options.h"

namespace estimator {

class DerivedValues;
class Executor;
class GrowingList;
class ProgramImpl;
struct Trace;

// Several runs can share a program if they take turns, because they use the same kernels.
class Program {
 public:
  // Errors: graph.status(), if it is an error; UNIMPLEMENTED naming every op without a kernel;
  // INVALID_ARGUMENT for placeholders that are not fed, a variable assigned twice, or unknown names
  // in disable_passes; FAILED_PRECONDITION in a parallel region of OpenMP (openmp_team.h).
  static absl::StatusOr<std::shared_ptr<const Program>> Compile(const Graph& graph,
                                                                const ProgramSpec& spec,
                                                                const CompileOptions& options = {});
  ~Program();
  int num_segments() const;
  // The collectives after segment `segment`; there are none after the last segment.
  const std::vector<Collective>& collectives(int segment) const;
  // The other sums of the segment, if CompileOptions::buckets is set.
  const std::vector<CollectiveBucket>& buckets(int segment) const;
  int64_t bucket_bytes() const;  // of the memory of a replica's buckets
  // The variables whose new values depend on the replica: those that take the values of replica 0.
  const std::vector<std::string>& replica_updates() const;
  const ExecutableInfo& info() const;
  // The variables that the program reads or updates, with their specs.
  const std::vector<std::pair<std::string, TensorSpec>>& variables() const;
  // The table of --print_plan: for each instruction its kernel's tier, layout, bytes, estimated
  // FLOPs (kernels/flops.h), names, shapes and buffers; then totals. For people to read.
  std::string Plan() const;

 private:
  friend class ProgramRun;
  explicit Program(std::unique_ptr<ProgramImpl> impl);
  std::unique_ptr<ProgramImpl> impl_;
};

// The buffers of one replica, and the execution of the instructions.
class ProgramRun {
 public:
  // Binds to the variables of `store`; allocates those that it lacks.
  //   arena: shared with other runs of this replica, which must never run at the same time; null:
  //   the run has its own.
  //   shared: for the values that live within a segment; shared with the runs of all replicas,
  //   which take turns. Null: the run has its own.
  //   derived: `derived_values()` of another run of the same program and store, which takes turns
  //   with this one. Null: the run has its own.
  //   updates: whether this is the run whose ApplyUpdates is called.
  // Errors: INVALID_ARGUMENT if the store has a variable with another dtype or shape, if the groups
  // of a collective do not name every replica once, or if the program was compiled for a single
  // replica but num_replicas is not 1.
  static absl::StatusOr<std::unique_ptr<ProgramRun>> Create(
      std::shared_ptr<const Program> program, VariableStore& store, int replica, int num_replicas,
      std::shared_ptr<Arena> arena = nullptr, std::shared_ptr<Arena> shared = nullptr,
      std::shared_ptr<DerivedValues> derived = nullptr, bool updates = true);
  ~ProgramRun();
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;
  // The values that this run keeps between steps.
  std::shared_ptr<DerivedValues> derived_values() const { return derived_; }
  // The groups of fetches that later steps compute; before the first call, all.
  void WantFetches(FetchGroups groups) { wanted_ = groups; }
  // Errors: FAILED_PRECONDITION naming the variables that the program reads and that have no value
  // yet.
  absl::Status CheckInitialized() const;
  // The value of the variable `global_step`, if the program has it. Random ops depend on it.
  std::optional<int64_t> GlobalStep() const;
  // Checks dtypes and shapes, and keeps the arrays until the next call.
  absl::Status SetFeeds(const std::vector<Array>& feeds);
  // Runs segment `segment`, without applying updates.
  //   deadline_ns: StepContext::deadline_ns.
  // Errors: errors of kernels, with the node's name; DEADLINE_EXCEEDED after the deadline, and
  // CANCELLED for a loop that does not end after a stop was requested (control_flow/step_time.h);
  // FAILED_PRECONDITION in a parallel region of OpenMP (openmp_team.h).
  //   on_bucket: called with the number of each bucket of the segment when its inputs are computed.
  absl::Status RunSegment(int segment, int64_t global_step, int64_t deadline_ns = 0,
                          const std::function<absl::Status(size_t bucket)>& on_bucket = nullptr);
  void* buffer(int number);
  // The memory of the buckets: Program::bucket_bytes(), aligned to 64 bytes. Set it before the
  // first step; it outlives the run.
  void set_bucket_memory(char* memory) { buckets_ = memory; }
  char* bucket_memory() const { return buckets_; }
  // Makes all updates take effect. Call it on one replica only, after the last segment. Its ops do
  // not fail, but --check_kernels may find a wrong result.
  absl::Status ApplyUpdates();
  // Valid until the next step begins.
  const std::vector<Array>& fetches() const { return fetches_; }

 private:
  ProgramRun(std::shared_ptr<const Program> program, VariableStore& store, int replica,
             int num_replicas, bool updates);
  // The part of Create that may fail.
  absl::Status Init(std::shared_ptr<Arena> arena, std::shared_ptr<Arena> shared,
                    std::shared_ptr<DerivedValues> derived);
  void Bind();
  void BindFetches();
  absl::Status RunDerived(Trace* trace);  // null: not traced
  absl::Status CheckArena() const;

  const std::shared_ptr<const Program> program_;
  const ProgramImpl& impl_;
  const std::unique_ptr<Executor> executor_;
  VariableStore& store_;
  const int replica_;
  const int num_replicas_;
  const bool updates_;
  std::shared_ptr<Arena> arena_, shared_;
  char* buckets_ = nullptr;
  std::shared_ptr<DerivedValues> derived_;
  // The addresses of the arenas when `address_` was computed.
  std::optional<std::pair<const char*, const char*>> bound_to_;

  std::vector<Array*> variables_;
  // The variables that the program reads: the name, and whether it is initialized.
  std::vector<std::pair<const std::string*, const bool*>> reads_;
  std::vector<Array> own_;
  std::vector<GrowingList> lists_;
  std::vector<Array> feeds_;
  std::vector<Array> fetches_;
  StepContext step_;  // of the current step
  FetchGroups wanted_ = kAllGroups;
  std::vector<uint64_t*> updated_versions_;  // in the store, of the variables that the step updates
  bool marked_ = false;  // the updated variables are marked as initialized in the store
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_PROGRAM_H_
