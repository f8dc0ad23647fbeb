#include "estimator/training/callbacks/lambda_callback.h"

#include <memory>

#include "estimator/base/status.h"

namespace estimator::callbacks {
namespace {

class LambdaCallbackHook : public Callback {
 public:
  explicit LambdaCallbackHook(const LambdaCallbackOptions& options) : options_(options) {}

  absl::Status OnTrainBegin(Context& context) override {
    if (options_.on_train_begin) options_.on_train_begin(context);
    return absl::OkStatus();
  }
  absl::Status OnTrainEnd(Context& context) override {
    if (options_.on_train_end) options_.on_train_end(context);
    return absl::OkStatus();
  }
  absl::Status OnEpochBegin(Context& context, int64_t epoch) override {
    if (options_.on_epoch_begin) options_.on_epoch_begin(context, epoch);
    return absl::OkStatus();
  }
  absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
    if (options_.on_epoch_end) options_.on_epoch_end(context, epoch, logs);
    return absl::OkStatus();
  }
  absl::Status OnTrainBatchBegin(Context& context, int64_t batch) override {
    if (options_.on_batch_begin) options_.on_batch_begin(context, batch);
    return absl::OkStatus();
  }
  absl::Status OnTrainBatchEnd(Context& context, int64_t batch) override {
    if (!options_.on_batch_end) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const Logs logs, context.RunningLogs());
    options_.on_batch_end(context, batch, logs);
    return absl::OkStatus();
  }

 private:
  const LambdaCallbackOptions options_;
};

}  // namespace

HookPtr LambdaCallback(const LambdaCallbackOptions& options) {
  return std::make_shared<LambdaCallbackHook>(options);
}

}  // namespace estimator::callbacks
