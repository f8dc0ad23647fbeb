// Preflight: what a strategy may do before a call of Train, Evaluate or Predict begins.
//
// A strategy that also is a Preflight is asked first. It may end the call, for example because it
// was only asked for a report on the program (tpu/rules).
#ifndef ESTIMATOR_TRAINING_PREFLIGHT_H_
#define ESTIMATOR_TRAINING_PREFLIGHT_H_

#include "absl/status/status.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/input/mode.h"

namespace estimator {

class Preflight {
 public:
  virtual ~Preflight() = default;

  struct Call {
    Mode mode = Mode::kTrain;
    const InputFn& input;
    // Whether the call says how many steps it makes. False: it reads the input to its end.
    bool num_steps_given = false;
  };
  // OK: the call continues. Otherwise it returns this status and has done nothing.
  virtual absl::Status Check(const Call& call) = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_PREFLIGHT_H_
