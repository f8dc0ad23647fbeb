// The table of ops (estimator/op_def) and the registered kernels have the same ops.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "estimator/kernels/kernel.h"
#include "estimator/op_def/op_def.h"

namespace estimator {
namespace {

constexpr KernelTier kTiers[] = {KernelTier::kReference, KernelTier::kFused, KernelTier::kOneDnn,
                                 KernelTier::kNative};

// So a misspelt name is found.
TEST(OpRows, EveryOpOfTheTableHasAKernel) {
  // Passes build their kernels, or they are a part of the step, or another library has the kernel.
  const std::set<std::string> others = {"_Copy",        "_UpdateSweep", "Assign",     "AssignAdd",
                                        "NoOp",         "Placeholder",  "VariableV2", "Restore",
                                        "ImageSummary", "While",        "If",         "Case"};
  for (const OpDef* row : OpDefs()) {
    bool found = others.count(row->name) > 0 || row->traits.view;  // views do not run
    for (const KernelTier tier : kTiers) found = found || HasKernel(row->name, tier);
    EXPECT_TRUE(found) << row->name;
  }
}

TEST(OpRows, EveryKernelIsOfAnOpOfTheTable) {
  for (const KernelTier tier : kTiers) {
    for (const std::string& op : RegisteredKernels(tier)) {
      if (op == "NegativeProduct") continue;  // prepared_input_test registers it
      EXPECT_NE(FindOpDef(op), nullptr) << op;
    }
  }
}

}  // namespace
}  // namespace estimator
