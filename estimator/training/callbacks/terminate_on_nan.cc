#include "estimator/training/callbacks/terminate_on_nan.h"

#include <memory>

#include "estimator/training/callbacks/callback.h"
#include "glog/logging.h"

namespace estimator::callbacks {
namespace {

class TerminateOnNaNCallback : public Callback {
 public:
  absl::Status OnTrainBegin(Context& context) override {
    context_ = &context;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (!values.loss_not_finite) return absl::OkStatus();
    LOG(WARNING) << "Batch " << context_->steps_done() << ": Invalid loss, terminating training; "
                 << "the variables have the values of step " << values.global_step;
    context_->StopTraining();
    context.RequestStop();
    return absl::OkStatus();
  }
  bool HandlesBadLoss() const override { return true; }

 private:
  Context* context_ = nullptr;
};

}  // namespace

HookPtr TerminateOnNaN() { return std::make_shared<TerminateOnNaNCallback>(); }

}  // namespace estimator::callbacks
