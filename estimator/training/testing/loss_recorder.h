// LossRecorder: a hook that keeps the loss of each run, for tests of trainings.
#ifndef ESTIMATOR_TRAINING_TESTING_LOSS_RECORDER_H_
#define ESTIMATOR_TRAINING_TESTING_LOSS_RECORDER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

class LossRecorder : public SessionRunHook {
 public:
  //   tensor: the name of the loss; "": the graph's first one.
  explicit LossRecorder(std::string tensor = "") : tensor_(std::move(tensor)) {}
  absl::Status Begin(Graph& graph) override {
    loss_ = tensor_.empty() ? graph.losses().at(0) : graph.FindTensor(tensor_);
    return loss_.valid() ? absl::OkStatus() : absl::NotFoundError(tensor_);
  }
  std::vector<Tensor> BeforeRun(RunContext& /*context*/) override { return {loss_}; }
  absl::Status AfterRun(RunContext& /*context*/, const RunValues& values) override {
    losses.push_back(values.results.at(0).AsDouble());
    return absl::OkStatus();
  }
  std::vector<double> losses;

 private:
  const std::string tensor_;
  Tensor loss_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TESTING_LOSS_RECORDER_H_
