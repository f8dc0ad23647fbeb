// The compilation of a program for a TPU topology (--tpu_check=v3-8), as the rules call it. The
// library that can compile registers itself, so that //tpu does not depend on it.
#ifndef TPU_RULES_TOPOLOGY_CHECK_H_
#define TPU_RULES_TOPOLOGY_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/training/compiled_model.h"
#include "estimator/training/strategies.h"

namespace estimator::tpu {

// How thorough the checks of this process are (--tpu_check_seconds and --tpu_check_fill).
struct TopologyCheckSettings {
  // For the compilations of one mode together: that of its step, and those of the search for the
  // largest batch. The search ends early; a step that takes longer has not passed.
  double seconds = 1200;
  // Whether to compile larger batches, if the given one fits, to find one that fills the memory.
  // Otherwise that batch is only estimated. If the given batch is too large, the largest one that
  // fits is always searched.
  bool fill = false;
};
// Call it before the first check. Default: the values above.
void SetTopologyCheckSettings(const TopologyCheckSettings& settings);

// One program of a check. All references are valid during the call only.
struct TopologyCheckRequest {
  const std::string& topology;  // TPUConfig::check, such as "v3-8"
  Mode mode = Mode::kTrain;
  const Strategy& strategy;  // on the replicas of TPUConfig
  // The model of one replica, built for the mode. In EVAL and PREDICT it may be built from the
  // signature of the training's input.
  const BuiltModel& model;
  int64_t iterations_per_loop = 1;
  DType compute_dtype = DType::kFloat32;  // of the products, as the backend would compile them
  TopologyCheckSettings settings = {};
};

struct TopologyCheckResult {
  bool passed = false;
  std::string text;  // the section of the report: one or more whole lines
};

// Errors: why the program could not be checked at all, such as a missing compiler. A program that
// does not compile is no error, but a result that has not passed.
using TopologyCheck =
    std::function<absl::StatusOr<TopologyCheckResult>(const TopologyCheckRequest& request)>;

// The library that compiles calls this once, before Main:
//   [[maybe_unused]] const bool registered = RegisterTopologyCheck(Compile);
// It needs alwayslink = True. Returns true. REQUIRES: no other one is registered.
bool RegisterTopologyCheck(TopologyCheck check);
// The registered function; null without one.
const TopologyCheck* FindTopologyCheck();
// What SetTopologyCheckSettings was called with.
const TopologyCheckSettings& GetTopologyCheckSettings();

}  // namespace estimator::tpu

#endif  // TPU_RULES_TOPOLOGY_CHECK_H_
