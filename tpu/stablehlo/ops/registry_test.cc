// Every op of the registry is lowered to StableHLO, or says why not.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/op_registry.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

// Nodes that are no computation: LowerStep writes them as arguments and results of the step.
const std::set<std::string>& PartsOfTheStep() {
  static const auto* const parts = new std::set<std::string>{
      "Assign", "AssignAdd", "NoOp", "Placeholder", "VariableV2",
  };
  return *parts;
}

TEST(StableHloRegistry, LowersEveryOpOrSaysWhyNot) {
  for (const std::string& op : RegisteredOps()) {
    const bool lowered = FindLowering(op) != nullptr, part = PartsOfTheStep().count(op) > 0;
    const std::optional<std::string> reason = ReasonNotLowerable(op);
    EXPECT_EQ(
        static_cast<int>(lowered) + static_cast<int>(part) + static_cast<int>(reason.has_value()),
        1)
        << op
        << (lowered ? " is lowered and has a reason why not"
                    : " has no lowering: write one in tpu/stablehlo/ops, or give the reason "
                      "in not_lowered.cc");
    if (reason.has_value()) {
      EXPECT_NE(*reason, "") << op;
    }
  }
}

TEST(StableHloRegistry, KnowsNoOpThatTheGraphDoesNotKnow) {
  for (const std::string& op : LoweredOps()) EXPECT_NE(FindOp(op), nullptr) << op;
  for (const std::string& op : NotLowerableOps()) EXPECT_NE(FindOp(op), nullptr) << op;
  for (const std::string& op : PartsOfTheStep()) EXPECT_NE(FindOp(op), nullptr) << op;
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
