#include "estimator/training/callbacks/learning_rate_scheduler.h"

#include <memory>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/training/callbacks/callback.h"
#include "glog/logging.h"

namespace estimator::callbacks {
namespace {

class LearningRateSchedulerCallback : public Callback {
 public:
  LearningRateSchedulerCallback(std::function<double(int64_t, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {}

  // Saves the second compilation of the step that the first new rate causes otherwise.
  absl::Status Begin(Graph& graph) override { return train::MakeLearningRateSettable(graph); }

  absl::Status OnEpochBegin(Context& context, int64_t epoch) override {
    if (schedule_ == nullptr) return InvalidArgument("LearningRateScheduler: schedule is null");
    EST_ASSIGN_OR_RETURN(const double before, context.session().LearningRate());
    const double rate = schedule_(epoch, before);
    EST_RETURN_IF_ERROR(context.session().SetLearningRate(rate));
    LOG_IF(INFO, verbose_ > 0) << "Epoch " << epoch + 1
                               << ": LearningRateScheduler setting learning rate to " << rate
                               << ".";
    return absl::OkStatus();
  }

 private:
  const std::function<double(int64_t, double)> schedule_;
  const int verbose_;
};

}  // namespace

HookPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule,
                              const LearningRateSchedulerOptions& options) {
  return std::make_shared<LearningRateSchedulerCallback>(std::move(schedule), options.verbose);
}

}  // namespace estimator::callbacks
