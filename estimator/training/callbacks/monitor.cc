#include "estimator/training/callbacks/monitor.h"

#include <limits>
#include <vector>

#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace estimator::callbacks {

double Monitor::worst() const {
  const double infinity = std::numeric_limits<double>::infinity();
  return max_ ? -infinity : infinity;
}

std::optional<double> Monitor::Of(const Logs& logs, const char* who) {
  const auto found = logs.find(name_);
  if (found != logs.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : logs) names.push_back(name);
  // With validation_freq, most epochs have no val_loss.
  LOG_IF(WARNING, !warned_) << who << " conditioned on metric `" << name_
                            << "` which is not available. Available metrics are: "
                            << absl::StrJoin(names, ",");
  warned_ = true;
  return std::nullopt;
}

}  // namespace estimator::callbacks
