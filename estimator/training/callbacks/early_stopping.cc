#include "estimator/training/callbacks/early_stopping.h"

#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/training/callbacks/callback.h"
#include "estimator/training/callbacks/weights.h"
#include "glog/logging.h"

namespace estimator::callbacks {
namespace {

bool HigherIsBetter(const std::string& name) {
  return absl::EndsWith(name, "acc") || absl::EndsWith(name, "accuracy") ||
         absl::EndsWith(name, "auc");
}

class EarlyStoppingCallback : public Callback {
 public:
  explicit EarlyStoppingCallback(const EarlyStoppingOptions& options)
      : options_(options),
        monitor_(options.monitor, options.mode, HigherIsBetter(options.monitor)) {}

  absl::Status OnTrainBegin(Context&) override {
    best_ = monitor_.worst();
    wait_ = best_epoch_ = 0;
    stopped_epoch_.reset();
    seen_ = false;
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
    const Verdict verdict = Look(epoch, logs);
    if (verdict.keep && options_.restore_best_weights)
      EST_RETURN_IF_ERROR(SaveWeights(context.session(), BestPath(context.session())));
    if (!verdict.stop) return absl::OkStatus();
    context.StopTraining();
    if (!options_.restore_best_weights) return absl::OkStatus();
    LOG_IF(INFO, options_.verbose > 0)
        << "Restoring model weights from the end of the best epoch: " << best_epoch_ + 1 << ".";
    return RestoreWeights(context.session(), BestPath(context.session()));
  }

  absl::Status OnEpochReplayed(Context& context, int64_t epoch, const Logs& logs) override {
    // The checkpoint is of the last epoch that is replayed.
    if (!Look(epoch, logs).stop || epoch + 1 != context.first_epoch()) return absl::OkStatus();
    LOG(INFO) << "EarlyStopping stopped this training after epoch " << epoch + 1
              << ", so it does not continue; a larger patience would let it";
    context.StopTraining();
    return absl::OkStatus();
  }

  absl::Status OnTrainEnd(Context&) override {
    LOG_IF(INFO, stopped_epoch_.has_value() && options_.verbose > 0)
        << "Epoch " << *stopped_epoch_ + 1 << ": early stopping";
    return absl::OkStatus();
  }

 private:
  struct Verdict {
    bool keep = false;  // the weights are the best
    bool stop = false;
  };

  Verdict Look(int64_t epoch, const Logs& logs) {
    if (epoch < options_.start_from_epoch) return {};
    const std::optional<double> current = monitor_.Of(logs, "Early stopping");
    if (!current.has_value()) return {};
    // Without any progress, as of NaN, the weights of the first epoch are the best.
    const bool first = !std::exchange(seen_, true);
    ++wait_;
    const double surely = *current - monitor_.sign() * std::abs(options_.min_delta);
    if (monitor_.IsBetter(surely, best_)) {
      best_ = *current;
      best_epoch_ = epoch;
      if (!options_.baseline.has_value() || monitor_.IsBetter(surely, *options_.baseline))
        wait_ = 0;
      return {.keep = true};
    }
    const bool stop = wait_ >= options_.patience && epoch > 0;
    if (stop) stopped_epoch_ = epoch;
    return {.keep = first, .stop = stop};
  }

  std::string BestPath(const Session& session) const {
    return JoinPath(session.model_dir(), "early_stopping",
                    absl::StrCat("best_", absl::StrReplaceAll(options_.monitor, {{"/", "_"}})));
  }

  const EarlyStoppingOptions options_;
  Monitor monitor_;
  double best_ = 0;
  int64_t best_epoch_ = 0;
  int64_t wait_ = 0;
  bool seen_ = false;
  std::optional<int64_t> stopped_epoch_;
};

}  // namespace

HookPtr EarlyStopping(const EarlyStoppingOptions& options) {
  return std::make_shared<EarlyStoppingCallback>(options);
}

}  // namespace estimator::callbacks
