#include "estimator/training/callbacks/model_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/training/callbacks/callback.h"
#include "estimator/training/callbacks/file_pattern.h"
#include "estimator/training/callbacks/weights.h"
#include "glog/logging.h"

namespace estimator::callbacks {
namespace {

class ModelCheckpointCallback : public Callback {
 public:
  ModelCheckpointCallback(std::string filepath, const ModelCheckpointOptions& options)
      : filepath_(std::move(filepath)),
        options_(options),
        monitor_(options.monitor, options.mode,
                 absl::StrContains(options.monitor, "acc") ||
                     absl::StartsWith(options.monitor, "fmeasure")) {}

  absl::Status OnTrainBegin(Context& context) override {
    if (options_.save_freq.value_or(1) <= 0 || options_.keep_best.value_or(1) <= 0)
      return InvalidArgument("ModelCheckpoint: save_freq and keep_best must be positive");
    const std::string fixed = filepath_.substr(0, filepath_.find('{'));
    EST_RETURN_IF_ERROR(Annotate(CheckWritableDirectory(Dirname(fixed)), "ModelCheckpoint"));
    best_ = options_.initial_value_threshold.value_or(monitor_.worst());
    written_.clear();
    epoch_ = context.first_epoch();
    steps_since_save_ = last_step_ = 0;
    return absl::OkStatus();
  }

  absl::Status OnEpochBegin(Context&, int64_t epoch) override {
    epoch_ = epoch;
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
    if (options_.save_freq.has_value()) return absl::OkStatus();
    return Save(&context.session(), {{"epoch", epoch + 1}}, logs);
  }

  absl::Status OnEpochReplayed(Context&, int64_t epoch, const Logs& logs) override {
    if (options_.save_freq.has_value()) return absl::OkStatus();
    return Save(nullptr, {{"epoch", epoch + 1}}, logs);
  }

  absl::Status OnTrainBatchEnd(Context& context, int64_t batch) override {
    if (!options_.save_freq.has_value()) return absl::OkStatus();
    const int64_t step = context.session().global_step();
    steps_since_save_ += last_step_ == 0 ? batch + 1 : step - last_step_;
    last_step_ = step;
    if (steps_since_save_ < *options_.save_freq) return absl::OkStatus();
    steps_since_save_ = 0;
    EST_ASSIGN_OR_RETURN(const Logs logs, context.RunningLogs());
    return Save(&context.session(), {{"epoch", epoch_ + 1}, {"batch", batch + 1}}, logs);
  }

 private:
  struct Written {
    double value = 0;
    std::string path;
  };

  // Null `session`: another process has written the file.
  absl::Status Save(Session* session, const std::map<std::string, int64_t>& counts,
                    const Logs& logs) {
    const bool tell = session != nullptr && options_.verbose > 0;
    const int64_t epoch = counts.at("epoch");
    EST_ASSIGN_OR_RETURN(const std::string path, FillPattern(filepath_, counts, logs));
    std::optional<double> current;
    if (options_.save_best_only || options_.keep_best.has_value()) {
      current = monitor_.Of(logs, "Saving the best model is");
      if (!current.has_value()) return absl::OkStatus();
    }
    if (options_.save_best_only) {
      if (!monitor_.IsBetter(*current, best_)) {
        LOG_IF(INFO, tell) << absl::StrFormat("Epoch %d: %s did not improve from %.5f", epoch,
                                              monitor_.name(), best_);
        return absl::OkStatus();
      }
      LOG_IF(INFO, tell) << absl::StrFormat(
          "Epoch %d: %s improved from %.5f to %.5f, saving model to %s", epoch, monitor_.name(),
          best_, *current, path);
      best_ = *current;
    }
    if (options_.keep_best.has_value()) {
      // Equal numbers: the earlier file is kept. A NaN is worse than any number.
      const auto better = [&](const Written& w) {
        return std::isnan(*current) ||
               (!std::isnan(w.value) && !monitor_.IsBetter(*current, w.value));
      };
      const auto place = std::find_if_not(written_.begin(), written_.end(), better);
      const bool full = static_cast<int64_t>(written_.size()) >= *options_.keep_best;
      if (full && place == written_.end()) return absl::OkStatus();
      written_.insert(place, {.value = *current, .path = path});
    }
    if (session == nullptr) {
      if (Overflows()) written_.pop_back();
      return absl::OkStatus();
    }
    LOG_IF(INFO, tell && !options_.save_best_only)
        << "Epoch " << epoch << ": saving model to " << path;
    EST_RETURN_IF_ERROR(Write(*session, path));
    if (!Overflows()) return absl::OkStatus();
    const std::string worst = written_.back().path;
    written_.pop_back();
    return worst == path ? absl::OkStatus() : Remove(worst);
  }

  bool Overflows() const {
    return options_.keep_best.has_value() &&
           static_cast<int64_t>(written_.size()) > *options_.keep_best;
  }

  absl::Status Write(Session& session, const std::string& path) const {
    const AddSeconds saving(session.times().checkpoint);
    if (absl::EndsWith(path, ".h5")) return SaveKerasWeights(session, path);
    return options_.save_weights_only ? SaveWeights(session, path) : SaveAll(session, path);
  }

  static absl::Status Remove(const std::string& path) {
    return absl::EndsWith(path, ".h5") ? RemoveFile(path) : RemoveCheckpoint(path);
  }

  const std::string filepath_;
  const ModelCheckpointOptions options_;
  Monitor monitor_;
  double best_ = 0;
  std::vector<Written> written_;  // the best first; only with keep_best
  int64_t epoch_ = 0;
  int64_t steps_since_save_ = 0;
  int64_t last_step_ = 0;  // that was seen; 0: none
};

}  // namespace

HookPtr ModelCheckpoint(const std::string& filepath, const ModelCheckpointOptions& options) {
  return std::make_shared<ModelCheckpointCallback>(filepath, options);
}

}  // namespace estimator::callbacks
