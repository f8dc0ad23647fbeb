// Program: a graph compiled to a flat list of instructions over one arena.
//
// Compile runs the passes of runtime/passes/ in this order: prune; fold constants, merge equal
// nodes, simplify; fuse; choose layouts; plan memory; emit instructions. Running a step is a walk
// over the instructions: no allocation, no look-up by name, no shape inference.
//
// Segments: instructions are ordered so that every collective (CrossReplicaSum) of level k stands
// at the end of segment k. A backend with several replicas runs segment k on each, reduces (see
// collective.h), and goes on. With one replica a collective is a copy, where its buffers differ.
//
// Updates: RunSegment changes no variable. What writes variables in place, and the copies of other
// new values, is the update phase: ApplyUpdates, run by replica 0 alone after the last segment of
// all replicas. Other replicas skip what only the updates need.
#ifndef ESTIMATOR_RUNTIME_PROGRAM_H_
#define ESTIMATOR_RUNTIME_PROGRAM_H_

#include <cstdint>
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

namespace estimator {

struct CompileOptions {
  KernelTier fastest = KernelTier::kOneDnn;  // kReference: what defines the results
  bool fuse = true;
  bool choose_layouts = true;  // false: activations stay NHWC
  // --check_kernels: after each instruction run the reference kernels of the nodes it stands for
  // on the same inputs; the first op beyond tolerance ends the step with an error naming it. What
  // has no reference kernel is listed in info().unchecked_ops and logged.
  bool check_kernels = false;
  // The program will only ever run as one replica: collectives vanish, and are no border to fusing.
  bool single_replica = false;
};

class ProgramImpl;

// Shared by its runs, which take turns: they share the kernels.
class Program {
 public:
  // Errors: graph.status(), if it is an error; UNIMPLEMENTED naming every op without a kernel;
  // INVALID_ARGUMENT for placeholders that are not fed, or a variable assigned twice.
  static absl::StatusOr<std::shared_ptr<const Program>> Compile(const Graph& graph,
                                                                const ProgramSpec& spec,
                                                                const CompileOptions& options = {});
  ~Program();
  int num_segments() const;
  // The collectives after segment `segment` (none after the last).
  const std::vector<Collective>& collectives(int segment) const;
  const ExecutableInfo& info() const;
  // The variables that the program reads or updates, with their specs.
  const std::vector<std::pair<std::string, TensorSpec>>& variables() const;
  // One line per instruction: kernel, names, shapes, buffers. For people.
  std::string ToString() const;

 private:
  friend class ProgramRun;
  explicit Program(std::unique_ptr<ProgramImpl> impl);
  std::unique_ptr<ProgramImpl> impl_;
};

// One replica's buffers and the walk over the instructions.
class ProgramRun {
 public:
  // Binds to `store`'s variables (allocating what it lacks). `arena`: shared with other runs of
  // this replica, which never run at the same time; null: one of its own.
  // Errors: INVALID_ARGUMENT if the store holds a variable with another dtype or shape, if a
  // collective's groups do not name every replica once, or if the program was compiled for a
  // single replica and this is one of several.
  static absl::StatusOr<std::unique_ptr<ProgramRun>> Create(std::shared_ptr<const Program> program,
                                                            VariableStore& store, int replica,
                                                            int num_replicas,
                                                            std::shared_ptr<Arena> arena = nullptr);
  ~ProgramRun();
  // Errors: FAILED_PRECONDITION naming all variables that the program reads and that nothing has
  // set yet.
  absl::Status CheckInitialized() const;
  // The value of the variable `global_step`, if the program has it: what random ops are keyed by.
  std::optional<int64_t> GlobalStep() const;
  // Checks dtype and shape, and holds the arrays until the next call.
  absl::Status SetFeeds(const std::vector<Array>& feeds);
  // Runs segment `segment`. Updates are not applied. Errors: those of kernels, with the node's
  // name.
  absl::Status RunSegment(int segment, int64_t global_step);
  void* buffer(int number);
  // After the last segment, on replica 0 only: all new values take effect. Consists of ops that do
  // not fail, except that --check_kernels may find one to be wrong.
  absl::Status ApplyUpdates();
  // Valid until the next step begins.
  const std::vector<Array>& fetches() const;

 private:
  struct State;
  explicit ProgramRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_PROGRAM_H_
