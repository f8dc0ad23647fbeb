#include "estimator/runtime/passes/sweep_updates.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

// `count` variables of odd sizes with their momenta, and a gradient fed for each.
struct Momenta {
  ModuleBuilder b;
  std::vector<Array> feeds;
  std::vector<Value> updated;

  explicit Momenta(int count) {
    const Value rate = b.Scalar(0.1f), momentum = b.Scalar(0.9f);
    for (int v = 0; v < count; ++v) {
      const Shape shape{1 + 977 * v * v};
      const std::string name = absl::StrCat("v", v);
      const Value variable = b.Variable(name, shape), slot = b.Variable(name + "/Momentum", shape);
      feeds.push_back(Numbers(shape, 7 + v));
      const Value next = b.Op("ApplyMomentum", {variable, slot, rate, b.Feed(shape), momentum},
                              shape, {{"use_nesterov", v % 2 == 1}});
      b.node(next).outputs.push_back({DType::kFloat32, shape});
      b.Update(name, next);
      b.Update(name + "/Momentum", {next.node, 1});
      updated.push_back(next);
    }
  }
};

TEST(SweepUpdates, AllVariablesAreOneInstructionWithTheSameBits) {
  Momenta m(7);
  EST_ASSERT_OK(SelectKernels(m.b.module, KernelTier::kNative));
  const auto before = Interpret(m.b.module, m.feeds);
  SweepUpdates(m.b.module);
  const auto after = Interpret(m.b.module, m.feeds);
  EST_ASSERT_OK(before);
  EST_ASSERT_OK(after);
  EXPECT_EQ(Count(m.b.module, "ApplyMomentum"), 0);
  EXPECT_EQ(Only(m.b.module, "_UpdateSweep").outputs.size(), 14u);
  ASSERT_EQ(before->size(), after->size());
  for (size_t i = 0; i < before->size(); ++i) EXPECT_TRUE(SameBits((*before)[i], (*after)[i])) << i;
}

TEST(SweepUpdates, EveryVariableIsWrittenInPlace) {
  Momenta m(3);
  EST_ASSERT_OK(SelectKernels(m.b.module, KernelTier::kNative));
  SweepUpdates(m.b.module);
  const Schedule schedule = MakeSchedule(m.b.module);
  EXPECT_EQ(schedule.in_place.size(), 6u);
  EXPECT_TRUE(schedule.copies.empty());
}

TEST(SweepUpdates, AnUpdateWhoseResultIsReadStaysApart) {
  Momenta m(3);
  m.b.Fetch(m.b.Op("Neg", {m.updated[1]}, m.b.module.spec(m.updated[1]).shape));
  EST_ASSERT_OK(SelectKernels(m.b.module, KernelTier::kNative));
  SweepUpdates(m.b.module);
  EXPECT_EQ(Count(m.b.module, "ApplyMomentum"), 1);
  EXPECT_EQ(Only(m.b.module, "_UpdateSweep").outputs.size(), 4u);
}

}  // namespace
}  // namespace estimator::ir
