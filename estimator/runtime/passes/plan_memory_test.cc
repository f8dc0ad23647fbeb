#include "estimator/runtime/passes/plan_memory.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

EST_REGISTER_KERNEL("Over", KernelTier::kReference, Inert(0));  // may write over its input
EST_REGISTER_KERNEL("Apart", KernelTier::kReference, Inert(-1));
EST_REGISTER_KERNEL("Scratchy", KernelTier::kReference, Inert(-1, 1000));

constexpr int64_t kBytes = 64 * 16;  // of a [256] value

class PlanMemoryTest : public ::testing::Test {
 protected:
  MemoryPlan Plan() {
    Compact(b_.module);
    EST_EXPECT_OK(SelectKernels(b_.module, KernelTier::kReference));
    return PlanMemory(b_.module, MakeSchedule(b_.module));
  }
  const Shape kShape{256};
  ModuleBuilder b_;
};

TEST(FirstFit, TakesTheLowestGapThatFits) {
  FirstFit fit;
  EXPECT_EQ(fit.Allocate(100), 0);  // takes 128
  EXPECT_EQ(fit.Allocate(64), 128);
  EXPECT_EQ(fit.Allocate(64), 192);
  fit.Free(0, 100);
  EXPECT_EQ(fit.Allocate(200), 256);
  EXPECT_EQ(fit.Allocate(64), 0);
  EXPECT_EQ(fit.Allocate(1), 64);
  EXPECT_EQ(fit.peak(), 512);
}

TEST(FirstFit, NeighbouringGapsJoin) {
  FirstFit fit;
  for (int i = 0; i < 4; ++i) fit.Allocate(64);
  fit.Free(0, 64);
  fit.Free(128, 64);
  fit.Free(64, 64);
  EXPECT_EQ(fit.Allocate(192), 0);
  fit.Free(192, 64);
  fit.Free(0, 192);
  EXPECT_EQ(fit.Allocate(1000), 0);
}

TEST(PlaceBySize, TheLargestComesFirstAndSmallerOnesFillTheGaps) {
  int64_t peak = 0;
  // First fit would put the third above the second, at 192.
  const std::vector<LiveRange> chain = {{64, 0, 1}, {128, 1, 2}, {192, 2, 3}};
  EXPECT_EQ(PlaceBySize(chain, &peak), (std::vector<int64_t>{0, 192, 0}));
  EXPECT_EQ(peak, 320);
  EXPECT_TRUE(PlaceBySize({}, &peak).empty());
  EXPECT_EQ(peak, 0);
}

TEST(PlaceBySize, TheSmallestGapThatIsLargeEnoughIsTaken) {
  int64_t peak = 0;
  // At position 1 the first, third and fifth leave gaps of 256 and 128 bytes.
  const std::vector<LiveRange> ranges = {{1024, 0, 1}, {256, 0, 0}, {512, 0, 1},
                                         {128, 0, 0},  {127, 0, 1}, {64, 1, 1}};
  const std::vector<int64_t> offsets = PlaceBySize(ranges, &peak);
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 1536, 1024, 1792, 1920, 1536}));
  EXPECT_EQ(peak, 2047);
}

TEST_F(PlanMemoryTest, TheSmallerOfTwoPlacementsIsUsed) {
  const Value x = b_.Op("Apart", {b_.Feed(kShape)}, {16});
  const Value y = b_.Op("Apart", {x}, {32});
  const Value z = b_.Op("Apart", {y}, {48});
  b_.Fetch(b_.Op("Apart", {z}, kShape));
  EXPECT_EQ(Plan().arena_bytes, 320);  // first fit: 384
}

TEST_F(PlanMemoryTest, ReplicasShareWhatLivesWithinASegment) {
  const Value x = b_.Op("Scratchy", {b_.Feed(kShape)}, kShape);
  const Value y = b_.Op("Apart", {x}, kShape);
  const Value sum = b_.Op("CrossReplicaSum", {y}, kShape);
  const Value z = b_.Op("Apart", {sum}, kShape);
  const Value far = b_.Op("Apart", {x}, kShape);  // is read in the second segment
  b_.Fetch(b_.Op("Apart", {z, far}, kShape));
  const MemoryPlan plan = Plan();
  const auto kind = [&](Value value) { return At(plan.buffers, plan.buffer(value)).kind; };
  int shared = 0, own = 0;
  for (const Buffer& buffer : plan.buffers) {
    shared += buffer.kind == Buffer::Kind::kShared;
    own += buffer.kind == Buffer::Kind::kArena;
  }
  EXPECT_EQ(shared, 2) << "x and z";
  EXPECT_EQ(own, 2) << "far, and y with its sum";
  EXPECT_EQ(kind(sum), Buffer::Kind::kArena);
  EXPECT_EQ(plan.arena_bytes, 2 * kBytes);
  EXPECT_EQ(plan.shared_bytes, 2 * kBytes) << "x and its scratch, later z";
}

TEST_F(PlanMemoryTest, AChainNeedsTwoBuffersAndInPlaceOne) {
  Value x = b_.Feed(kShape);
  for (int i = 0; i < 6; ++i) x = b_.Op("Apart", {x}, kShape);
  b_.Fetch(x);
  EXPECT_EQ(Plan().arena_bytes, 2 * kBytes);  // the last one has a buffer of its own
  ModuleBuilder in_place;
  Value y = in_place.Op("Apart", {in_place.Feed(kShape)}, kShape);
  for (int i = 0; i < 6; ++i) y = in_place.Op("Over", {y}, kShape);
  in_place.Fetch(in_place.Op("Apart", {y}, kShape));
  b_ = in_place;
  EXPECT_EQ(Plan().arena_bytes, kBytes);
}

TEST_F(PlanMemoryTest, NoValueThatIsStillReadIsOverwritten) {
  const Value x = b_.Op("Apart", {b_.Feed(kShape)}, kShape);
  const Value y = b_.Op("Over", {x}, kShape);
  b_.Fetch(b_.Op("Add", {x, y}, kShape));  // x is read again
  const MemoryPlan plan = [&] {
    b_.node(b_.module.fetches[0]).op = "Apart";
    return Plan();
  }();
  EXPECT_NE(plan.buffer(x), plan.buffer(y));
}

TEST_F(PlanMemoryTest, FeedsConstantsAndVariablesAreNotOverwritten) {
  const Value feed = b_.Feed(kShape), variable = b_.Variable("v", kShape);
  const Value a = b_.Op("Over", {feed}, kShape), c = b_.Op("Over", {variable}, kShape);
  b_.Fetch(b_.Op("Apart", {a, c}, kShape));
  const MemoryPlan plan = Plan();
  EXPECT_EQ(At(plan.buffers, plan.buffer(a)).kind, Buffer::Kind::kArena);
  EXPECT_EQ(At(plan.buffers, plan.buffer(c)).kind, Buffer::Kind::kArena);
}

TEST_F(PlanMemoryTest, AnInputThatAViewStillShowsIsNotOverwritten) {
  const Value x = b_.Op("Apart", {b_.Feed(kShape)}, kShape);
  const Value view = b_.Op("Reshape", {x}, {16, 16});
  const Value y = b_.Op("Over", {x}, kShape);
  b_.Fetch(b_.Op("Apart", {y, view}, kShape));
  const MemoryPlan plan = Plan();
  EXPECT_EQ(plan.buffer(view), plan.buffer(x));
  EXPECT_NE(plan.buffer(y), plan.buffer(x));
}

TEST_F(PlanMemoryTest, ANodeThatReadsAValueTwiceDoesNotOverwriteIt) {
  const Value x = b_.Op("Apart", {b_.Feed(kShape)}, kShape);
  const Value y = b_.Op("Over", {x, x}, kShape);
  b_.Fetch(b_.Op("Apart", {y}, kShape));
  const MemoryPlan plan = Plan();
  EXPECT_NE(plan.buffer(y), plan.buffer(x));
}

TEST_F(PlanMemoryTest, ScratchLivesForItsInstruction) {
  const Value x = b_.Op("Scratchy", {b_.Feed(kShape)}, kShape);
  const Value y = b_.Op("Scratchy", {x}, kShape);
  b_.Fetch(b_.Op("Apart", {y}, kShape));
  const MemoryPlan plan = Plan();
  // x and its scratch, then x, y and the scratch of y: never two scratches.
  EXPECT_EQ(plan.arena_bytes, 3 * kBytes);
  EXPECT_EQ(plan.scratch[0], kBytes);
  EXPECT_EQ(plan.scratch[1], 2 * kBytes);
  EXPECT_EQ(plan.scratch[2], -1);
}

TEST_F(PlanMemoryTest, OverlappingLivesNeverShareBytes) {
  // A ladder of values with different sizes and lifetimes.
  std::vector<Value> values = {b_.Op("Apart", {b_.Feed(kShape)}, kShape)};
  for (int i = 1; i < 60; ++i) {
    const Shape shape{1 + (i * 37) % 300};
    const Value older = At(values, (i * 7) % i);
    values.push_back(b_.Op(i % 3 == 0 ? "Over" : "Scratchy", {values.back(), older}, shape));
  }
  b_.Fetch(b_.Op("Apart", values, kShape));
  b_.Fetch(b_.Op("Apart", {values.back()}, kShape));
  Compact(b_.module);
  EST_ASSERT_OK(SelectKernels(b_.module, KernelTier::kReference));
  const Schedule schedule = MakeSchedule(b_.module);
  const MemoryPlan plan = PlanMemory(b_.module, schedule);
  // All values are read by the second last node, so all of them live at once there.
  std::map<int64_t, int64_t> taken;
  for (const Value& value : values) {
    const Buffer& buffer = At(plan.buffers, plan.buffer(value));
    ASSERT_EQ(buffer.kind, Buffer::Kind::kArena);
    const int64_t bytes = static_cast<int64_t>(b_.module.spec(value).num_bytes());
    EXPECT_TRUE(taken.emplace(buffer.offset, bytes).second);
    EXPECT_EQ(buffer.offset % 64, 0);
  }
  int64_t end = 0;
  for (const auto& [offset, bytes] : taken) {
    EXPECT_GE(offset, end);
    end = offset + bytes;
  }
  EXPECT_GE(plan.arena_bytes, end);
}

}  // namespace
}  // namespace estimator::ir
