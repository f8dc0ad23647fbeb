#include "estimator/runtime/passes/prune.h"

#include <gtest/gtest.h>

#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

TEST(Prune, KeepsWhatFetchesAndUpdatesNeed) {
  ModuleBuilder b;
  const Value x = b.Feed({2});
  const Value w = b.Variable("w", {2});
  b.Op("Exp", {x}, {2});  // nobody asks for it
  b.Fetch(b.Op("Neg", {x}, {2}));
  b.Update("w", b.Op("AddV2", {w, x}, {2}));
  Prune(b.module);
  EXPECT_EQ(Count(b.module, "Exp"), 0);
  EXPECT_EQ(Count(b.module, "Neg"), 1);
  EXPECT_EQ(Count(b.module, "AddV2"), 1);
}

TEST(Prune, UnusedVariablesGoAndTheOthersAreRenumbered) {
  ModuleBuilder b;
  b.Variable("unused", {3});
  const Value w = b.Variable("w", {2});
  b.Variable("written", {2});
  b.Fetch(b.Op("Neg", {w}, {2}));
  b.Update("written", w);
  Prune(b.module);
  ASSERT_EQ(b.module.variables.size(), 2u);
  EXPECT_EQ(b.module.variables[0].name, "w");
  EXPECT_EQ(Only(b.module, "VariableV2").index, 0);
  EXPECT_EQ(b.module.updates[0].variable, 1);
}

TEST(Prune, AnUpdateWithTheVariablesOwnValueIsDropped) {
  ModuleBuilder b;
  const Value w = b.Variable("w", {2});
  b.Update("w", b.Op("Identity", {w}, {2}));
  Prune(b.module);
  EXPECT_TRUE(b.module.updates.empty());
  EXPECT_TRUE(b.module.variables.empty());
}

TEST(Prune, FeedsKeepTheirPlaces) {
  ModuleBuilder b;
  b.Feed({1});
  const Value second = b.Feed({2});
  b.Fetch(second);
  Prune(b.module);
  ASSERT_EQ(b.module.feeds.size(), 2u);
  EXPECT_EQ(Only(b.module, "Placeholder").index, 1);
}

}  // namespace
}  // namespace estimator::ir
