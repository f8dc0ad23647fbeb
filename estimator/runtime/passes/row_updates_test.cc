#include "estimator/runtime/passes/row_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Array Ids(std::initializer_list<int64_t> values) {
  return Array::Of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

class RowUpdatesTest : public ::testing::Test {
 protected:
  Value I32(int32_t value) { return b_.Constant(Array::Scalar(value)); }
  // The gradient of a table of 5 rows, looked up by ids_.
  Value DenseGradient() {
    return b_.Op("UnsortedSegmentSum", {x_, ids_, I32(5)}, {5, 3}, {}, DType::kFloat32);
  }
  Value RowsOf(Value table, Value indices, int32_t axis = 0) {
    return b_.Op("GatherV2", {table, indices, I32(axis)}, {4, 3}, {{"batch_dims", int64_t{0}}});
  }

  ModuleBuilder b_;
  const Value x_ = b_.Feed({4, 3});
  const Value ids_ = b_.Feed({4}, DType::kInt64);
};

TEST_F(RowUpdatesTest, TheGradientOfLookedUpRowsIsNotMadeWhole) {
  b_.Fetch(RowsOf(DenseGradient(), ids_));
  const Module before = b_.module;
  UpdateRows(b_.module);
  EXPECT_EQ(Count(b_.module, "UnsortedSegmentSum"), 0);
  EXPECT_EQ(Only(b_.module, "_SumEqualRows").outputs[0].shape, (Shape{4, 3}));
  for (const Array& ids : {Ids({4, 0, 4, 4}), Ids({1, 2, 3, 0}), Ids({2, 2, 1, 1})}) {
    const auto expected = Interpret(before, {Numbers({4, 3}), ids});
    const auto actual = Interpret(b_.module, {Numbers({4, 3}), ids});
    EST_ASSERT_OK(expected);
    EST_ASSERT_OK(actual);
    EXPECT_TRUE(SameBits((*actual)[0], (*expected)[0])) << ToString(b_.module);
  }
}

TEST_F(RowUpdatesTest, NegativeZerosAddUpToWhatTheyDidBefore) {
  b_.Fetch(RowsOf(DenseGradient(), ids_));
  const Module before = b_.module;
  UpdateRows(b_.module);
  Array x(DType::kFloat32, {4, 3});
  for (float& value : x.values<float>()) value = -0.0f;
  const auto expected = Interpret(before, {x, Ids({1, 2, 1, 0})});
  const auto actual = Interpret(b_.module, {x, Ids({1, 2, 1, 0})});
  EST_ASSERT_OK(expected);
  EST_ASSERT_OK(actual);
  EXPECT_TRUE(SameBits((*actual)[0], (*expected)[0]));
}

TEST_F(RowUpdatesTest, IdsOutsideOfTheTableAreErrors) {
  b_.Fetch(RowsOf(DenseGradient(), ids_));
  UpdateRows(b_.module);
  for (const Array& ids : {Ids({0, 5, 1, 1}), Ids({0, -1, 1, 1})}) {
    EXPECT_THAT(Interpret(b_.module, {Numbers({4, 3}), ids}), ErrorHas("is not in [0, 5)"));
  }
}

TEST_F(RowUpdatesTest, AGradientThatSomethingElseReadsIsMade) {
  const Value gradient = DenseGradient();
  b_.Fetch(RowsOf(gradient, ids_));
  b_.Fetch(gradient);
  UpdateRows(b_.module);
  EXPECT_EQ(Count(b_.module, "UnsortedSegmentSum"), 1);
  EXPECT_EQ(Count(b_.module, "_SumEqualRows"), 0);
}

TEST_F(RowUpdatesTest, OtherRowsOrAnotherAxisAreGathered) {
  const Value others = b_.Feed({4}, DType::kInt64);
  b_.Fetch(RowsOf(DenseGradient(), others));
  const Value square =
      b_.Op("UnsortedSegmentSum", {b_.Feed({4, 4}), ids_, I32(4)}, {4, 4}, {}, DType::kFloat32);
  b_.Fetch(b_.Op("GatherV2", {square, ids_, I32(1)}, {4, 4}, {{"batch_dims", int64_t{0}}}));
  UpdateRows(b_.module);
  EXPECT_EQ(Count(b_.module, "GatherV2"), 2);
}

class ScatterTest : public RowUpdatesTest {
 protected:
  Schedule Make() {
    UpdateRows(b_.module);
    ProtectReads(b_.module);
    Compact(b_.module);
    EST_EXPECT_OK(SelectKernels(b_.module, KernelTier::kReference));
    return MakeSchedule(b_.module);
  }

  const Value table_ = b_.Variable("table", {5, 3});
  const Value rows_ = b_.Feed({4, 1}, DType::kInt64);
};

TEST_F(ScatterTest, IsWrittenIntoItsVariableAfterItsIndicesAreChecked) {
  b_.Update("table", b_.Op("TensorScatterUpdate", {table_, rows_, x_}, {5, 3}));
  const Schedule schedule = Make();
  EXPECT_EQ(Only(b_.module, kCheckIndicesOp).attrs.ints("limits"), (std::vector<int64_t>{5}));
  EXPECT_EQ(schedule.in_place.size(), 1u);
  EXPECT_THAT(schedule.copies, IsEmpty());
  EXPECT_EQ(schedule.order.size(), 2u);
  EXPECT_EQ(schedule.updates_begin, 1) << "the check runs before the update phase";
}

TEST_F(ScatterTest, ChecksAllAxesThatAreIndexed) {
  const Value elements = b_.Feed({2, 2}, DType::kInt64), x = b_.Feed({2});
  b_.Update("table", b_.Op("TensorScatterAdd", {table_, elements, x}, {5, 3}));
  b_.Fetch(x);
  UpdateRows(b_.module);
  EXPECT_EQ(Only(b_.module, kCheckIndicesOp).attrs.ints("limits"), (std::vector<int64_t>{5, 3}));
  const auto run = [&](std::initializer_list<int64_t> at) {
    const std::vector<Array> feeds = {Numbers({4, 3}), Ids({0, 0, 0, 0}),
                                      Ids({0, 0, 0, 0}).Reshaped({4, 1}), Ids(at).Reshaped({2, 2}),
                                      Numbers({2})};
    return Interpret(b_.module, feeds).status();
  };
  EST_EXPECT_OK(run({4, 2, 0, 0}));
  EXPECT_THAT(run({4, 2, 5, 0}), ErrorHas("indices[2] = 5 is not in [0, 5)"));
  EXPECT_THAT(run({4, 3, 0, 0}), ErrorHas("indices[1] = 3 is not in [0, 3)"));
}

TEST_F(ScatterTest, IntoAnotherVariableIsCopied) {
  b_.Variable("other", {5, 3});
  b_.Update("other", b_.Op("TensorScatterUpdate", {table_, rows_, x_}, {5, 3}));
  const Schedule schedule = Make();
  EXPECT_EQ(Count(b_.module, kCheckIndicesOp), 0);
  EXPECT_THAT(schedule.in_place, IsEmpty());
  EXPECT_THAT(schedule.copies, ElementsAre(0));
}

TEST_F(ScatterTest, WhoseResultIsFetchedIsCopied) {
  const Value updated = b_.Op("TensorScatterUpdate", {table_, rows_, x_}, {5, 3});
  b_.Update("table", updated);
  b_.Fetch(updated);
  const Schedule schedule = Make();
  EXPECT_THAT(schedule.in_place, IsEmpty());
  EXPECT_THAT(schedule.copies, ElementsAre(0));
}

TEST_F(ScatterTest, WaitsForTheReadersOfTheOldValue) {
  const Value sum = b_.Variable("sum", {5, 3});
  b_.Update("table", b_.Op("TensorScatterAdd", {table_, rows_, x_}, {5, 3}));
  // Reads what was there before, into another variable; by its index it would come later.
  const Value all_rows = b_.Feed({5, 1}, DType::kInt64);
  b_.Update("sum", b_.Op("TensorScatterUpdate", {sum, all_rows, table_}, {5, 3}));
  const Schedule schedule = Make();
  ASSERT_EQ(schedule.in_place.size(), 2u);
  std::vector<std::string> phase;
  for (size_t i = static_cast<size_t>(schedule.updates_begin); i < schedule.order.size(); ++i)
    phase.push_back(b_.module.node(schedule.order[i]).op);
  EXPECT_THAT(phase, ElementsAre("TensorScatterUpdate", "TensorScatterAdd"));
}

}  // namespace
}  // namespace estimator::ir
