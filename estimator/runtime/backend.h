// Backend: the interface between the loops and the devices that compute. The loops use nothing else
// of a device. Implementations: CpuBackend (N replicas in this process, which take turns on all
// cores) and tpu/pjrt (the devices of a plugin).
#ifndef ESTIMATOR_RUNTIME_BACKEND_H_
#define ESTIMATOR_RUNTIME_BACKEND_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// Groups of fetches, a bit each.
using FetchGroups = uint64_t;
inline constexpr FetchGroups kAllGroups = ~FetchGroups{0};

// The inputs, outputs and updates of a step that is to be compiled.
struct ProgramSpec {
  std::vector<Tensor> feeds;    // placeholders, in the order of a step's arrays
  std::vector<Tensor> fetches;  // values handed out after a step
  std::vector<Operation> updates;
  // For each fetch its group, or 0 if every step computes it. Empty: every step computes all. A
  // step computes the groups that Executable::WantFetches named. The instructions are the same ones
  // in every step, so what a step computes does not depend on the groups.
  std::vector<FetchGroups> fetch_groups = {};
  // What the step is, for the heading of Program::Plan: "training with a batch of 128".
  std::string name = {};
};

// One step's input: for every replica, one array per feed.
using StepFeeds = std::vector<std::vector<Array>>;
// One step's output: for every replica, one array per fetch. The arrays are the backend's buffers,
// valid until the callback returns; Clone an array to keep it.
using StepFetches = std::vector<std::vector<Array>>;

// Returns the next step's input, or nullopt at the end of the input.
using Infeed = std::function<absl::StatusOr<std::optional<StepFeeds>>()>;
// An infeed that gives every step the same input.
inline Infeed SameFeeds(StepFeeds feeds) {
  return [feeds = std::move(feeds)]() -> absl::StatusOr<std::optional<StepFeeds>> { return feeds; };
}
// Called once per step, in order, from the thread that runs the loop, before the step's updates
// take effect. `step` counts from 0 in this RunLoop. An error ends the loop, and the step then
// changes no variable: a loss that is not finite stops a run before it has spoiled the weights.
using Outfeed = std::function<absl::Status(int64_t step, const StepFetches& fetches)>;

// Facts about a compiled step, for banners and reports.
struct ExecutableInfo {
  int num_instructions = 0;
  int num_fused_nodes = 0;           // nodes that no longer run on their own
  int64_t planned_peak_bytes = 0;    // arena of one replica
  int64_t planned_shared_bytes = 0;  // arena that all replicas share
  // What the program computes from variables and keeps between steps; replicas share it.
  int64_t planned_derived_bytes = 0;
  int num_replicas = 1;
  // With check_kernels: the ops that no reference kernel computes, and their instruction counts.
  std::map<std::string, int> unchecked_ops;
};

// A compiled step. Runs on one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;
  // Runs up to `num_steps` steps and returns how many ran (fewer only when the input ended).
  // Errors: those of infeed, outfeed and kernels (with the node's name). A step that fails changes
  // no variable.
  virtual absl::StatusOr<int64_t> RunLoop(int64_t num_steps, const Infeed& infeed,
                                          const Outfeed& outfeed) = 0;
  // The groups of fetches that later steps compute; before the first call, all. The other fetches
  // of a step have unspecified values. An executable may compute more.
  virtual void WantFetches(FetchGroups /*groups*/) {}
  virtual const ExecutableInfo& info() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "CPU", "8 in-process replicas"
  virtual int num_replicas() const = 0;
  // The variables that this backend's executables read and change.
  virtual VariableStore& variables() = 0;
  // Compiles a step of `graph`. The graph may be destroyed afterwards. The step's variables are
  // bound by name. Variables that the store lacks are allocated; set them before the first run.
  // Errors: graph.status(), if it is an error; UNIMPLEMENTED naming every op without a kernel.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(const Graph& graph,
                                                              const ProgramSpec& spec) = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_BACKEND_H_
