// The learning rate that hooks set: Session::SetLearningRate in training.
#include <cmath>
#include <memory>
#include <string>

#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/training/hooks/evaluate_tensors.h"
#include "estimator/training/loop/trainer.h"
#include "glog/logging.h"

namespace estimator {

float Trainer::RateInStore() const {
  const VariableStore& store = state_.store();
  if (!store.initialized(train::kSetLearningRate)) return train::kNoLearningRateSet;
  return store.Peek(train::kSetLearningRate)->scalar<float>();
}

double Trainer::RateScale() const {
  if (!config_.scale_learning_rate) return 1;
  return static_cast<double>(strategy_.num_replicas(Mode::kTrain) / config_.accumulate_steps);
}

absl::Status Trainer::MakeRateSettable() {
  if (main_->model->graph->FindVariable(train::kSetLearningRate).has_value())
    return absl::OkStatus();
  // The thread that writes a checkpoint reads the graph.
  EST_RETURN_IF_ERROR(FinishCheckpoint());
  EST_RETURN_IF_ERROR(train::MakeLearningRateSettable(*main_->model->graph));
  return RateBecameSettable();
}

absl::Status Trainer::RateBecameSettable() {
  main_->step->GraphChanged();
  checkpoints_.ResetGraph();
  if (state_.store().initialized(train::kSetLearningRate)) return absl::OkStatus();
  return state_.store().Set(train::kSetLearningRate, Array::Scalar(train::kNoLearningRateSet));
}

absl::StatusOr<double> Trainer::LearningRate(Session& session) {
  if (const float set = RateInStore(); set >= 0) return set;
  const std::vector<Tensor> rates = train::LearningRates(*main_->model->graph);
  if (rates.empty()) return FailedPrecondition("train_op has no learning rate in f32");
  EST_ASSIGN_OR_RETURN(const std::vector<Array> values, EvaluateTensors(session, rates));
  double largest = values[0].AsDouble();
  for (const Array& value : values) largest = std::fmax(largest, value.AsDouble());
  return largest;
}

absl::StatusOr<bool> Trainer::SetLearningRate(double rate) {
  const float rounded = static_cast<float>(rate);
  if (!(rate >= 0) || !std::isfinite(rounded)) {
    return InvalidArgument("SetLearningRate: the rate is ", rate,
                           ", but must be finite and not negative");
  }
  EST_RETURN_IF_ERROR(Annotate(MakeRateSettable(), "SetLearningRate"));
  if (RateInStore() == rounded) return false;
  EST_RETURN_IF_ERROR(state_.store().Set(train::kSetLearningRate, Array::Scalar(rounded)));
  return true;
}

absl::Status Trainer::RestoreVariables(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  const bool is_there = reader->Has(train::kSetLearningRate);
  if (is_there) {
    const absl::Status settable = MakeRateSettable();
    LOG_IF(WARNING, !settable.ok()) << prefix << " has a learning rate that a hook set, which is "
                                    << "not used: " << settable.message();
  }
  EST_RETURN_IF_ERROR(state_.Restore(*main_->model->graph, prefix, main_->model->scaffold));
  if (!main_->model->graph->FindVariable(train::kSetLearningRate).has_value())
    return absl::OkStatus();
  if (!is_there)
    return state_.store().Set(train::kSetLearningRate, Array::Scalar(train::kNoLearningRateSet));
  const float set = RateInStore();
  LOG_IF(INFO, set >= 0) << "The learning rate is " << set << ", which a hook set before " << prefix
                         << " was saved, and not the optimizer's own";
  return absl::OkStatus();
}

}  // namespace estimator
