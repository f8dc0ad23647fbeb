// Monitor: the number that a callback watches, and whether it has improved.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_MONITOR_H_
#define ESTIMATOR_TRAINING_CALLBACKS_MONITOR_H_

#include <optional>
#include <string>
#include <utility>

#include "estimator/training/epochs/history.h"

namespace estimator::callbacks {

// Which way the number should go. kAuto decides by its name, as each of Keras' callbacks does.
enum class MonitorMode { kAuto, kMin, kMax };

class Monitor {
 public:
  //   max_by_name: what kAuto decides.
  Monitor(std::string name, MonitorMode mode, bool max_by_name)
      : name_(std::move(name)),
        max_(mode == MonitorMode::kMax || (mode == MonitorMode::kAuto && max_by_name)) {}

  const std::string& name() const { return name_; }
  // Nothing has been seen: any number is better.
  double worst() const;
  bool IsBetter(double value, double than) const { return max_ ? value > than : value < than; }
  double sign() const { return max_ ? 1 : -1; }  // of an improvement
  // The number; nullopt if `logs` does not have it. The first time a warning lists what it has.
  //   who: begins the warning.
  std::optional<double> Of(const Logs& logs, const char* who);

 private:
  const std::string name_;
  const bool max_;
  bool warned_ = false;
};

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_MONITOR_H_
