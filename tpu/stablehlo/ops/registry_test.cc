// Every op of the registry is lowered to StableHLO, or says why not.
#include <set>
#include <string>

#include "estimator/graph/op_registry.h"
#include "estimator/op_def/op_def.h"
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
    const char* const reason = TraitsOf(op).not_lowered;
    EXPECT_EQ(
        static_cast<int>(lowered) + static_cast<int>(part) + static_cast<int>(reason != nullptr), 1)
        << op
        << (lowered ? " is lowered and has a reason why not"
                    : " has no lowering: write one in tpu/stablehlo/ops, or give the reason "
                      "in its row");
    if (reason != nullptr) {
      EXPECT_STRNE(reason, "") << op;
    }
  }
}

TEST(StableHloRegistry, KnowsNoOpThatTheGraphDoesNotKnow) {
  for (const std::string& op : LoweredOps()) EXPECT_NE(FindOp(op), nullptr) << op;
  for (const OpDef* row : OpDefs()) {
    if (row->traits.not_lowered != nullptr) {
      EXPECT_NE(FindOp(row->name), nullptr) << row->name;
    }
  }
  for (const std::string& op : PartsOfTheStep()) EXPECT_NE(FindOp(op), nullptr) << op;
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
