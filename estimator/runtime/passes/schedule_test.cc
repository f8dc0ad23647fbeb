#include "estimator/runtime/passes/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// AddV2 and Apply* write over input 0; Exp does not.
EST_REGISTER_KERNEL("AddV2", KernelTier::kReference, Inert(0));
EST_REGISTER_KERNEL("ApplyTest", KernelTier::kReference, Inert(0));
EST_REGISTER_KERNEL("Exp", KernelTier::kReference, Inert(-1));
EST_REGISTER_KERNEL("Gather", KernelTier::kReference, Inert(0));

class ScheduleTest : public ::testing::Test {
 protected:
  Schedule Make() {
    ProtectReads(b_.module);
    Compact(b_.module);
    EST_EXPECT_OK(SelectKernels(b_.module, KernelTier::kReference));
    return MakeSchedule(b_.module);
  }
  std::vector<std::string> Ops(const Schedule& schedule, int begin, int end) {
    std::vector<std::string> ops;
    for (int t = begin; t < end; ++t) {
      ops.push_back(b_.module.node(At(schedule.order, t)).op);
    }
    return ops;
  }
  std::vector<std::string> UpdatePhase(const Schedule& schedule) {
    return Ops(schedule, schedule.updates_begin, static_cast<int>(schedule.order.size()));
  }

  ModuleBuilder b_;
};

TEST_F(ScheduleTest, CollectivesEndTheirSegments) {
  const Value x = b_.Feed({2});
  const Value sum = b_.Op("CrossReplicaSum", {b_.Op("Exp", {x}, {2})}, {2});
  const Value after = b_.Op("AddV2", {sum, x}, {2});
  b_.Fetch(b_.Op("CrossReplicaSum", {after}, {2}));
  b_.Fetch(b_.Op("Exp", {b_.Op("Exp", {x}, {2})}, {2}));  // needs no collective: runs first
  const Schedule schedule = Make();
  ASSERT_EQ(schedule.segments.size(), 3u);
  const auto& [first, second, third] =
      std::tie(schedule.segments[0], schedule.segments[1], schedule.segments[2]);
  EXPECT_THAT(Ops(schedule, first.begin, first.end), ElementsAre("Exp", "Exp", "Exp"));
  EXPECT_THAT(Ops(schedule, first.end, first.collectives_end), ElementsAre("CrossReplicaSum"));
  EXPECT_THAT(Ops(schedule, second.begin, second.end), ElementsAre("AddV2"));
  EXPECT_THAT(Ops(schedule, second.end, second.collectives_end), ElementsAre("CrossReplicaSum"));
  EXPECT_EQ(third.begin, third.collectives_end);
}

TEST_F(ScheduleTest, OptimizersWriteInPlaceAtTheEnd) {
  const Value w = b_.Variable("w", {2}), grad = b_.Feed({2});
  b_.Update("w", b_.Op("ApplyTest", {w, grad}, {2}));
  b_.Fetch(b_.Op("Exp", {w}, {2}));
  const Schedule schedule = Make();
  EXPECT_THAT(UpdatePhase(schedule), ElementsAre("ApplyTest"));
  EXPECT_EQ(schedule.in_place.size(), 1u);
  EXPECT_THAT(schedule.copies, IsEmpty());
}

TEST_F(ScheduleTest, WhatAFetchReadsIsNotWrittenInPlace) {
  const Value w = b_.Variable("w", {2}), grad = b_.Feed({2});
  const Value updated = b_.Op("ApplyTest", {w, grad}, {2});
  b_.Update("w", updated);
  b_.Fetch(updated);
  const Schedule schedule = Make();
  EXPECT_THAT(UpdatePhase(schedule), IsEmpty());
  EXPECT_THAT(schedule.copies, ElementsAre(0));
}

TEST_F(ScheduleTest, WhatCanFailIsNotInTheUpdatePhase) {
  const Value w = b_.Variable("w", {2}), grad = b_.Feed({2});
  b_.Update("w", b_.Op("Gather", {w, grad}, {2}));  // its kernel would alias, but it checks indices
  const Schedule schedule = Make();
  EXPECT_THAT(UpdatePhase(schedule), IsEmpty());
  EXPECT_THAT(schedule.copies, ElementsAre(0));
}

TEST_F(ScheduleTest, ReadersOfTheOldValueComeFirst) {
  const Value a = b_.Variable("a", {2}), c = b_.Variable("c", {2}), x = b_.Feed({2});
  const Value new_a = b_.Op("AddV2", {a, x}, {2});
  const Value new_c = b_.Op("ApplyTest", {c, a}, {2});  // reads the old a
  b_.Update("a", new_a);
  b_.Update("c", new_c);
  const Schedule schedule = Make();
  EXPECT_THAT(UpdatePhase(schedule), ElementsAre("ApplyTest", "AddV2"));
  EXPECT_EQ(schedule.in_place.size(), 2u);
}

TEST_F(ScheduleTest, ARingOfReadersIsBroken) {
  const Value a = b_.Variable("a", {2}), c = b_.Variable("c", {2});
  b_.Update("a", b_.Op("AddV2", {a, c}, {2}));
  b_.Update("c", b_.Op("AddV2", {c, a}, {2}));
  const Schedule schedule = Make();
  EXPECT_EQ(schedule.in_place.size(), 1u);
  EXPECT_EQ(schedule.copies.size(), 1u);
}

TEST_F(ScheduleTest, AVariableThatIsReadTwiceByItsWriterIsNotOverwritten) {
  const Value a = b_.Variable("a", {2});
  b_.Update("a", b_.Op("AddV2", {a, a}, {2}));
  const Schedule schedule = Make();
  EXPECT_THAT(schedule.in_place, IsEmpty());
  EXPECT_THAT(schedule.copies, ElementsAre(0));
}

TEST_F(ScheduleTest, FetchesOfUpdatedVariablesAreCopiedFirst) {
  const Value w = b_.Variable("w", {2}), grad = b_.Feed({2});
  b_.Update("w", b_.Op("ApplyTest", {w, grad}, {2}));
  b_.Fetch(w);
  const Schedule schedule = Make();
  EXPECT_THAT(Ops(schedule, 0, static_cast<int>(schedule.order.size())),
              ElementsAre("_Copy", "ApplyTest"));
}

TEST_F(ScheduleTest, OnlyUpdatesAreToldFromTheRest) {
  const Value w = b_.Variable("w", {2}), x = b_.Feed({2});
  const Value shared = b_.Op("Exp", {x}, {2});
  b_.Fetch(shared);
  b_.Update("w", b_.Op("AddV2", {w, b_.Op("Exp", {shared}, {2})}, {2}));
  Compact(b_.module);
  const std::vector<char> only = OnlyUpdates(b_.module);
  int count = 0;
  for (size_t n = 0; n < only.size(); ++n) {
    if (b_.module.nodes[n].kind == Node::Kind::kOp) count += only[n];
  }
  EXPECT_EQ(count, 2);  // the second Exp and AddV2
}

}  // namespace
}  // namespace estimator::ir
