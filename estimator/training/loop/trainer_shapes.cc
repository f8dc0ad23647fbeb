// The models of a Trainer: one for each shape of batch.
#include <memory>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/training/loop/epoch_loop.h"
#include "estimator/training/loop/trainer.h"
#include "glog/logging.h"

namespace estimator {

absl::Status Trainer::EnsureModel(const StepInput& first) {
  // An input with other arrays needs another model.
  if (main_ != nullptr && !shapes_.CheckArrays(first, *main_).ok()) {
    main_ = nullptr;
    shapes_.Clear();
  }
  EST_ASSIGN_OR_RETURN(const CompiledShapePtr shape, ShapeFor(first));
  if (shape == main_) return absl::OkStatus();
  main_ = shape;
  // The .meta file of the next checkpoint must have the new graph.
  checkpoints_.ResetGraph();
  // A model for batches of another size continues with the rate that a hook has set.
  return state_.store().initialized(train::kSetLearningRate) ? MakeRateSettable()
                                                             : absl::OkStatus();
}

absl::StatusOr<CompiledShapePtr> Trainer::BuildShape(const StepInput& input) {
  const auto shape = std::make_shared<CompiledShape>();
  shape->backend = backend_.get();
  EST_ASSIGN_OR_RETURN(shape->model,
                       BuildModel(strategy_, input.replicas[0],
                                  {.mode = Mode::kTrain,
                                   .seed = config_.tf_random_seed,
                                   .num_replicas = strategy_.num_replicas(Mode::kTrain),
                                   .learning_rate_scale = RateScale()}));
  const BuiltModel& model = *shape->model;
  EST_RETURN_IF_ERROR(
      CheckGradientsAreSummed(*model.graph, model.num_replicas, {model.spec.train_op}));
  // TensorFlow leaves the update_ops to model_fn, which may forget them.
  std::vector<Operation> updates = model.graph->update_ops();
  updates.push_back(model.spec.train_op);
  LOG_IF(INFO, shapes_.empty() && model.summed_bare_optimizer && strategy_.on_replicas())
      << "The optimizer sums its gradients over " << model.num_replicas
      << " replicas as CrossShardOptimizer does, because model_fn does not wrap it";
  shape->step = std::make_unique<CompiledStep>(model, *backend_, std::move(updates));
  return shape;
}

absl::StatusOr<CompiledShapePtr> Trainer::ShapeFor(const StepInput& input) {
  const auto build = [&]() -> absl::StatusOr<CompiledShapePtr> {
    if (main_ != nullptr) EST_RETURN_IF_ERROR(shapes_.CheckArrays(input, *main_));
    return BuildShape(input);
  };
  EST_ASSIGN_OR_RETURN(CompiledShapePtr shape, shapes_.For(input, *backend_, build));
  if (main_ == nullptr || shape == main_) return shape;
  Graph& graph = *shape->model->graph;
  if (main_->model->graph->FindVariable(train::kSetLearningRate).has_value() &&
      !graph.FindVariable(train::kSetLearningRate).has_value()) {
    EST_RETURN_IF_ERROR(train::MakeLearningRateSettable(graph));
    shape->step->GraphChanged();
  }
  if (by_epochs()) shape->step->AlsoUpdate(TrainMetrics::UpdatesOf(shape->model->spec));
  return shape;
}

}  // namespace estimator
