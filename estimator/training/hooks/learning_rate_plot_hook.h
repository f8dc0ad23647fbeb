// LearningRatePlotHook: draws the learning rate of a training's steps before the first one.
#ifndef ESTIMATOR_TRAINING_HOOKS_LEARNING_RATE_PLOT_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_LEARNING_RATE_PLOT_HOOK_H_

#include <cstdint>
#include <string>
#include <utility>

#include "estimator/training/hooks/hook.h"

namespace estimator {

class LearningRatePlotHook : public SessionRunHook {
 public:
  struct Options {
    std::string path = "";       // of the PNG file
    int64_t target_step = 0;     // the step at which training ends; INT64_MAX: not known
    double steps_per_epoch = 0;  // the unit of the horizontal axis; 0: steps
  };
  explicit LearningRatePlotHook(Options options) : options_(std::move(options)) {}

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override {
    graph_ = &graph;
    return absl::OkStatus();
  }
  // Draws a curve for each rate of the optimizers (train::RateByName). Rates that hooks set later
  // are not in it.
  // Errors: INVALID_ARGUMENT if the number of steps is not known; FAILED_PRECONDITION if no
  // optimizer has a rate; those of evaluating the rates (EvaluateTensors) and of writing the file.
  absl::Status AfterCreateSession(Session& session) override;

 private:
  const Options options_;
  Graph* graph_ = nullptr;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_LEARNING_RATE_PLOT_HOOK_H_
