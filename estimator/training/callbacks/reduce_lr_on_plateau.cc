#include "estimator/training/callbacks/reduce_lr_on_plateau.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/match.h"
#include "estimator/base/status.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/training/callbacks/callback.h"
#include "glog/logging.h"

namespace estimator::callbacks {
namespace {

class ReduceLROnPlateauCallback : public Callback {
 public:
  explicit ReduceLROnPlateauCallback(const ReduceLROnPlateauOptions& options)
      : options_(options),
        monitor_(options.monitor, options.mode, absl::StrContains(options.monitor, "acc")) {}

  // Saves the second compilation of the step that the first new rate causes otherwise.
  absl::Status Begin(Graph& graph) override { return train::MakeLearningRateSettable(graph); }

  absl::Status OnTrainBegin(Context&) override {
    // Written so that it also refuses NaN.
    if (!(options_.factor < 1)) {
      return InvalidArgument("ReduceLROnPlateau does not support a factor >= 1.0. Got ",
                             options_.factor);
    }
    best_ = monitor_.worst();
    wait_ = cooldown_ = 0;
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
    EST_ASSIGN_OR_RETURN(const double rate, context.session().LearningRate());
    if (!Plateau(logs, rate)) return absl::OkStatus();
    const double reduced = std::max(rate * options_.factor, options_.min_lr);
    EST_RETURN_IF_ERROR(context.session().SetLearningRate(reduced));
    LOG_IF(INFO, options_.verbose > 0)
        << "Epoch " << epoch + 1 << ": ReduceLROnPlateau reducing learning rate to " << reduced
        << ".";
    return absl::OkStatus();
  }

  absl::Status OnEpochReplayed(Context&, int64_t, const Logs& logs) override {
    const auto rate = logs.find("lr");
    if (rate != logs.end()) Plateau(logs, rate->second);
    return absl::OkStatus();
  }

 private:
  // Counts an epoch. Returns whether the rate is to be reduced.
  bool Plateau(const Logs& logs, double rate) {
    const std::optional<double> current = monitor_.Of(logs, "Learning rate reduction is");
    if (!current.has_value()) return false;
    if (cooldown_ > 0) {
      --cooldown_;
      wait_ = 0;
    }
    if (monitor_.IsBetter(*current, best_ + monitor_.sign() * options_.min_delta)) {
      best_ = *current;
      wait_ = 0;
      return false;
    }
    if (cooldown_ > 0) return false;
    ++wait_;
    // The rate is f32, and a min_lr that it has reached is compared as f32.
    if (wait_ < options_.patience || !(rate > static_cast<float>(options_.min_lr))) return false;
    cooldown_ = options_.cooldown;
    wait_ = 0;
    return true;
  }

  const ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  double best_ = 0;
  int64_t wait_ = 0;
  int64_t cooldown_ = 0;  // epochs left
};

}  // namespace

HookPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options) {
  return std::make_shared<ReduceLROnPlateauCallback>(options);
}

}  // namespace estimator::callbacks
