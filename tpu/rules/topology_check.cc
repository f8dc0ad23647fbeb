#include "tpu/rules/topology_check.h"

#include <utility>

#include "glog/logging.h"

namespace estimator::tpu {
namespace {

// A function's static: registrations run before main, in any order.
TopologyCheck& Registered() {
  static auto* const check = new TopologyCheck;
  return *check;
}

TopologyCheckSettings& Settings() {
  static auto* const settings = new TopologyCheckSettings;
  return *settings;
}

}  // namespace

bool RegisterTopologyCheck(TopologyCheck check) {
  CHECK(!Registered()) << "a topology check is registered already";
  Registered() = std::move(check);
  return true;
}

const TopologyCheck* FindTopologyCheck() { return Registered() ? &Registered() : nullptr; }

void SetTopologyCheckSettings(const TopologyCheckSettings& settings) { Settings() = settings; }

const TopologyCheckSettings& GetTopologyCheckSettings() { return Settings(); }

}  // namespace estimator::tpu
