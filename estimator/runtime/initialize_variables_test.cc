// Initial values: which variables begin alike, and what begins at a restored value.
#include "estimator/runtime/initialize_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/random.h"

namespace estimator {
namespace {

class InitializeVariablesTest : public GraphTest {
 protected:
  static Variable Make(absl::string_view name, const Tensor& value) {
    return GetVariable(name, value.shape(),
                       {.initializer = [value](const Shape&, DType) { return value; }});
  }
  static Variable MakeAverage(absl::string_view name, const Variable& of) {
    return GetVariable(name, of.shape(),
                       {.initializer = [of](const Shape&, DType) { return InitializedValue(of); }});
  }
  void Restore(const Variable& variable, float value) {
    Array array(DType::kFloat32, variable.shape());
    for (float& element : array.values<float>()) element = value;
    EST_EXPECT_OK(store_.Set(variable.name(), array));
  }
  void Initialize() {
    const absl::Status initialized = InitializeVariables(graph_, store_);
    EST_EXPECT_OK(initialized);
  }
  const Array& Value(const Variable& variable) { return *store_.Peek(variable.name()); }
  float First(const Variable& variable) { return Value(variable).data<float>()[0]; }

  VariableStore store_;
};

TEST_F(InitializeVariablesTest, VariablesOfOneRandomTensorBeginAlike) {
  const Tensor random = RandomUniform({3}, {.minval = 1, .maxval = 2});
  const Variable a = Make("a", random), b = Make("b", random), twice = Make("twice", random * 2.0f);
  Initialize();
  EXPECT_GE(First(a), 1);
  EXPECT_TRUE(SameBits(Value(a), Value(b)));
  EXPECT_EQ(First(twice), 2 * First(a));
}

// As in TensorFlow: an initial value is a tensor, not the variable that it was made for.
TEST_F(InitializeVariablesTest, BesideARestoredVariableASharedTensorIsDrawn) {
  const Tensor random = RandomUniform({3}, {.minval = 1, .maxval = 2});
  const Variable a = Make("a", random), twice = Make("twice", random * 2.0f);
  Restore(a, 7);
  Initialize();
  EXPECT_EQ(First(a), 7);
  EXPECT_LT(First(twice), 4);
  const Variable b = Make("b", random);
  Initialize();
  EXPECT_EQ(First(twice), 2 * First(b));
}

// Once, both averages began at the value of whichever variable came last.
TEST_F(InitializeVariablesTest, AveragesOfVariablesOfOneTensorBeginEachAtItsOwn) {
  const Tensor random = RandomUniform({3}, {.minval = 1, .maxval = 2});
  const Variable a = Make("a", random), b = Make("b", random), c = Make("c", random);
  const Variable of_a = MakeAverage("a/average", a), of_b = MakeAverage("b/average", b),
                 of_c = MakeAverage("c/average", c), again = MakeAverage("a/again", of_a);
  Restore(a, 7);
  Restore(b, 8);
  Initialize();
  EXPECT_EQ(First(of_a), 7);
  EXPECT_EQ(First(of_b), 8);
  EXPECT_EQ(First(of_c), First(c));
  EXPECT_EQ(First(again), 7);
  EXPECT_LT(First(c), 2);
}

TEST_F(InitializeVariablesTest, AnInvalidVariableHasNoInitializedValue) {
  EXPECT_FALSE(InitializedValue(Variable()).valid());
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
