#include "estimator/runtime/passes/write_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/derive_values.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/sweep_updates.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Variables a, b and c, which a step updates. It reads a and b rounded to bf16.
class WriteCopiesTest : public ::testing::Test {
 protected:
  Value Bfloat16(Value value) { return b_.Op("Cast", {value}, shape_, {}, DType::kBfloat16); }
  Value Descended(const std::string& name, Value variable) {
    const Value next =
        b_.Op("ApplyGradientDescent", {variable, b_.Scalar(0.1f), b_.Feed(shape_)}, shape_);
    b_.Update(name, next);
    return next;
  }
  void Run() {
    EST_ASSERT_OK(SelectKernels(b_.module, KernelTier::kNative));
    SweepUpdates(b_.module);
    DeriveValues(b_.module, /*prepare_inputs=*/false);
    schedule_ = MakeSchedule(b_.module);
    WriteCopies(b_.module, schedule_);
  }
  // The nodes of what the sweep copies.
  std::vector<std::string> CopiesOfSweep() const {
    std::vector<std::string> names;
    for (const Value& copy : Only(b_.module, "_UpdateSweep").copies)
      names.push_back(b_.module.node(b_.module.node(copy).inputs[0]).name);
    return names;
  }

  const Shape shape_{8};
  ModuleBuilder b_;
  Schedule schedule_;
};

TEST_F(WriteCopiesTest, TheSweepWritesTheCopiesThatTheStepReads) {
  const Value a = b_.Variable("a", shape_), b = b_.Variable("b", shape_),
              c = b_.Variable("c", shape_);
  for (const Value variable : {a, b})
    b_.Fetch(b_.Op("Neg", {Bfloat16(variable)}, shape_, {}, DType::kBfloat16));
  b_.Fetch(b_.Op("Neg", {c}, shape_));
  Descended("c", c);
  Descended("a", a);
  Descended("b", b);
  const std::string name_of_a = b_.module.node(a).name, name_of_b = b_.module.node(b).name;
  Run();
  EXPECT_THAT(CopiesOfSweep(), ElementsAre(name_of_a, name_of_b));
  EXPECT_EQ(schedule_.derived_end, 2);
}

TEST_F(WriteCopiesTest, ACopyThatIsFetchedIsNotDerived) {
  const Value a = b_.Variable("a", shape_), b = b_.Variable("b", shape_);
  const Value fetched = Bfloat16(a);
  b_.Fetch(fetched);
  Descended("a", a);
  Descended("b", b);
  Run();
  EXPECT_THAT(CopiesOfSweep(), IsEmpty());
  EXPECT_EQ(schedule_.derived_end, 0);
}

// A fetch of the new value makes the update run before the update phase.
TEST_F(WriteCopiesTest, AnUpdateThatAFailedStepMayHaveRunWritesNoCopy) {
  const Value a = b_.Variable("a", shape_), b = b_.Variable("b", shape_),
              c = b_.Variable("c", shape_);
  b_.Fetch(b_.Op("Neg", {Bfloat16(a)}, shape_, {}, DType::kBfloat16));
  b_.Fetch(b_.Op("Neg", {Descended("a", a)}, shape_));
  Descended("b", b);
  Descended("c", c);
  Run();
  EXPECT_THAT(CopiesOfSweep(), IsEmpty());
}

// The update of d reads the new value of b, so it runs in the update phase, and a copy of a's old
// value.
TEST_F(WriteCopiesTest, ACopyThatALaterUpdateReadsIsNotOverwritten) {
  const Value a = b_.Variable("a", shape_), b = b_.Variable("b", shape_),
              c = b_.Variable("c", shape_);
  b_.Variable("d", shape_);
  const Value copy = Bfloat16(a);
  b_.Fetch(b_.Op("Neg", {copy}, shape_, {}, DType::kBfloat16));
  Descended("a", a);
  Descended("c", c);
  const Value sum =
      b_.Op("AddV2", {Bfloat16(Descended("b", b)), copy}, shape_, {}, DType::kBfloat16);
  b_.Update("d", b_.Op("Cast", {sum}, shape_));
  Run();
  EXPECT_THAT(CopiesOfSweep(), IsEmpty());
}

}  // namespace
}  // namespace estimator::ir
