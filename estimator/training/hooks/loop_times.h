// LoopTimes: where the time of a training loop went.
#ifndef ESTIMATOR_TRAINING_HOOKS_LOOP_TIMES_H_
#define ESTIMATOR_TRAINING_HOOKS_LOOP_TIMES_H_

#include <chrono>
#include <string>

namespace estimator {

// Seconds since the loop began. What is not in a field is the time of other hooks.
struct LoopTimes {
  double input = 0;       // the loop waited for batches
  double compute = 0;     // steps, with host_call
  double checkpoint = 0;  // saving
  double evaluation = 0;  // evaluations and exports between steps

  LoopTimes operator-(const LoopTimes& other) const {
    return {.input = input - other.input,
            .compute = compute - other.compute,
            .checkpoint = checkpoint - other.checkpoint,
            .evaluation = evaluation - other.evaluation};
  }
  double sum() const { return input + compute + checkpoint + evaluation; }
};

// The shares of `seconds`, as "compute 81 %, input 15 %, other 4 %": those of at least 1 %, the
// largest first. "" if `seconds` is not positive.
std::string FormatShares(const LoopTimes& times, double seconds);

// Adds the time until its destruction to `total`.
class AddSeconds {
 public:
  explicit AddSeconds(double& total) : total_(total) {}
  ~AddSeconds() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  AddSeconds(const AddSeconds&) = delete;
  AddSeconds& operator=(const AddSeconds&) = delete;

 private:
  double& total_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_LOOP_TIMES_H_
