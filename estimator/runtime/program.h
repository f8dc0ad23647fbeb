// Program: a graph compiled to a flat list of instructions over one arena.
//
// Compile runs the passes of runtime/passes/ in this order: prune; fold constants, merge equal
// nodes, simplify; fuse; choose layouts; plan memory; emit instructions. Running a step is a walk
// over the instructions: no allocation, no look-up by name, no shape inference.
//
// Segments: instructions are ordered so that every collective (CrossReplicaSum) of level k stands
// at the end of segment k. A backend with several replicas runs segment k on each, reduces, and
// goes on. With one replica a collective is a copy (or an alias) and all segments run through.
#ifndef ESTIMATOR_RUNTIME_PROGRAM_H_
#define ESTIMATOR_RUNTIME_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/kernels/kernel.h"
#include "estimator/runtime/backend.h"

namespace estimator {

struct CompileOptions {
  KernelTier fastest = KernelTier::kOneDnn;  // kReference: what defines the results
  bool fuse = true;
  // --check_kernels: after each instruction run the reference kernels of the nodes it stands for
  // on the same inputs; the first op beyond tolerance ends the step with an error naming it.
  bool check_kernels = false;
};

// A collective that stands between two segments: buffers to be summed over replicas, in replica
// order, within groups.
struct Collective {
  int input = 0;   // buffer numbers, for ProgramRun::buffer
  int output = 0;
  TensorSpec spec;
  std::vector<std::vector<int64_t>> groups;  // empty: all replicas
};

class ProgramImpl;

// Immutable; shared by its runs. Thread-compatible.
class Program {
 public:
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
  // Binds to `store`'s variables (allocating what it lacks).
  static absl::StatusOr<std::unique_ptr<ProgramRun>> Create(std::shared_ptr<const Program> program,
                                                            VariableStore& store, int replica,
                                                            int num_replicas);
  ~ProgramRun();
  // Checks dtype and shape, and holds the arrays until the next call.
  absl::Status SetFeeds(const std::vector<Array>& feeds);
  // Runs segment `segment`. Updates are not applied.
  absl::Status RunSegment(int segment, int64_t global_step);
  void* buffer(int number);
  // After the last segment, on one replica only: all new values take effect.
  void ApplyUpdates();
  // Valid until the next step begins.
  const std::vector<Array>& fetches() const;

 private:
  struct State;
  explicit ProgramRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_PROGRAM_H_
