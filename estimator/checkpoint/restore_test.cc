#include "estimator/checkpoint/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::map<std::string, Array> variables = {
        {"global_step", Array::Scalar<int32_t>(7)},
        {"conv2d/kernel", Array(DType::kFloat32, {3, 3, 1, 8})},
        {"dense/kernel", Array(DType::kFloat32, {4, 10})},
        {"dense/bias", Array(DType::kFloat32, {10})},
    };
    EST_ASSERT_OK(Saver().Save(dir_.path(), 7, variables));
  }

  const TempDir dir_;
};

// A variable that has the same name in the checkpoint.
WantedVariable Wanted(const std::string& name, DType dtype, const Shape& shape) {
  return {.name = name, .spec = {dtype, shape}, .stored_name = name};
}

TEST_F(RestoreTest, ASubsetIsFineAndAnInt32StepServesForInt64) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const WantedVariable step = Wanted("global_step", DType::kInt64, {});
  const absl::Status fits =
      CheckRestorable(*reader, {step, Wanted("dense/bias", DType::kFloat32, {10})});
  EST_ASSERT_OK(fits);
  Array value(DType::kInt64, {});
  EST_ASSERT_OK(RestoreInto(*reader, step, &value));
  EXPECT_EQ(value.scalar<int64_t>(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.path()).value(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.File("none")).value(), 0);
}

TEST_F(RestoreTest, ReadsWhereTheValueLies) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  Array bias(DType::kFloat32, {10}), other(DType::kFloat32, {11});
  bias.data<float>()[3] = 5;
  const void* const bytes = bias.raw();
  EST_ASSERT_OK(RestoreInto(*reader, Wanted("dense/bias", DType::kFloat32, {10}), &bias));
  EXPECT_EQ(bias.data<float>()[3], 0);
  EXPECT_EQ(bias.raw(), bytes);
  EXPECT_THAT(RestoreInto(*reader, Wanted("dense/bias", DType::kFloat32, {11}), &other),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// Fixed bugs: dense/kernel/Adam was named as what dense/kernel/Momentum had been renamed from, and
// an average was taken for a slot of another optimizer.
TEST_F(RestoreTest, ASlotOfAnotherOptimizerIsNotARenamedOneNorIsANewAverage) {
  const TempDir dir;
  EST_ASSERT_OK(Saver().Save(dir.path(), 1,
                             {{"dense/kernel", Array(DType::kFloat32, {4, 10})},
                              {"dense/kernel/Adam", Array(DType::kFloat32, {4, 10})}}));
  const auto reader = LoadCheckpoint(dir.path()).value();
  for (const char* name : {"dense/kernel/Momentum", "dense/kernel/ExponentialMovingAverage"}) {
    const absl::Status status = CheckRestorable(
        *reader,
        {Wanted("dense/kernel", DType::kFloat32, {4, 10}), Wanted(name, DType::kFloat32, {4, 10})});
    EXPECT_THAT(status, ErrorHas("a slot or an average that was not kept"));
    EXPECT_THAT(status, ErrorIs(Not(HasSubstr("renamed"))));
  }
}

// Fixed bug: such a slot was told as a renamed one. In Python the `with` of the scope would have
// ended before the optimizer.
TEST_F(RestoreTest, ASlotMadeUnderAnOpenVariableScopeNamesTheScope) {
  const TempDir dir;
  const Array kernel(DType::kFloat32, {4, 10});
  EST_ASSERT_OK(Saver().Save(dir.path(), 1,
                             {{"net/dense/kernel", kernel},
                              {"net/dense/kernel/Adam", kernel},
                              {"beta1_power", Array::Scalar(0.9f)}}));
  const auto reader = LoadCheckpoint(dir.path()).value();
  const absl::Status status =
      CheckRestorable(*reader, {Wanted("net/dense/kernel", DType::kFloat32, {4, 10}),
                                Wanted("net/net/dense/kernel/Adam", DType::kFloat32, {4, 10}),
                                Wanted("net/beta1_power", DType::kFloat32, {})});
  EXPECT_THAT(status, ErrorHas("2 of 3 variables differ"));
  EXPECT_THAT(status, ErrorHas("made by an optimizer while the VariableScope \"net\" was open"));
  EXPECT_THAT(status, ErrorHas("before Minimize"));
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("renamed"))));
}

TEST_F(RestoreTest, OneTableNamesEveryMismatch) {
  const auto reader = LoadCheckpoint(dir_.File("model.ckpt-7.index")).value();
  const absl::Status status =
      CheckRestorable(*reader, {Wanted("conv2d_1/kernel", DType::kFloat32, {3, 3, 1, 8}),
                                Wanted("dense/kernel", DType::kFloat32, {10, 4}),
                                Wanted("dense/bias", DType::kBfloat16, {10}),
                                Wanted("global_step", DType::kInt64, {})});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  for (const char* part :
       {"3 of 4 variables differ", "conv2d/kernel", "f32 [10,4]", "f32 [4,10]", "transposed",
        "bf16 [10]", "another dtype", "Scaffold::restore_names", "warm_start_from"}) {
    EXPECT_THAT(status, ErrorHas(part)) << part;
  }
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("global_step"))));
}

// Fixed bug: the cure was the flags of a network that has other layers, and those were not shown.
TEST_F(RestoreTest, OfAnotherNetworkTheTableHasWhatIsOnlyInTheCheckpoint) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const auto check = [&](const std::vector<WantedVariable>& wanted) {
    return CheckRestorable(*reader, wanted);
  };
  const WantedVariable kernel = Wanted("dense/kernel", DType::kFloat32, {2, 64}),
                       bias = Wanted("dense/bias", DType::kFloat32, {64});
  const absl::Status other =
      check({kernel, bias, Wanted("dense/kernel/Momentum", DType::kFloat32, {2, 64})});
  EXPECT_THAT(other, ErrorIs(Not(HasSubstr("a slot or an average"))));
  EXPECT_THAT(other, ErrorHas("3 of 3 variables differ, 1 is only in the checkpoint"));
  EXPECT_THAT(other, ErrorHas("  -           f32 [3,3,1,8]  -             not in this model"));
  EXPECT_THAT(other, ErrorHas("another network: another model_dir"));
  EXPECT_THAT(other, ErrorIs(Not(HasSubstr("another size"))));
  EXPECT_THAT(other, ErrorIs(Not(HasSubstr("global_step"))));
  const absl::Status size =
      check({kernel, bias, Wanted("conv2d/kernel", DType::kFloat32, {3, 3, 1, 8})});
  EXPECT_THAT(size, ErrorHas("another size of the network"));
  EXPECT_THAT(size, ErrorIs(Not(HasSubstr("only in"))));
}

TEST_F(RestoreTest, SlotsAndMoreThanSomeRowsOfTheCheckpointAreNotShown) {
  const TempDir dir;
  std::map<std::string, Array> variables = {{"a", Array(DType::kFloat32, {4})}};
  for (int i = 100; i < 130; ++i) {
    const std::string name = absl::StrCat("layer_", i, "/kernel");
    variables[name] = variables[name + "/Momentum"] = Array(DType::kFloat32, {2});
  }
  EST_ASSERT_OK(Saver().Save(dir.path(), 1, variables));
  const absl::Status status =
      CheckRestorable(*LoadCheckpoint(dir.path()).value(), {Wanted("a", DType::kFloat32, {5})});
  EXPECT_THAT(status, ErrorHas("30 are only in the checkpoint (20 are shown)"));
  EXPECT_THAT(status, ErrorHas("layer_119/kernel"));
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("layer_120/kernel"))));
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("Momentum"))));
}

TEST_F(RestoreTest, TheCureNamesTheSettingsOfTheCaller) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const WantedVariable unlike = Wanted("embeddings", DType::kFloat32, {3});
  EXPECT_THAT(CheckRestorable(*reader, {unlike}), ErrorHas("Scaffold::partial_restore"));
  const RestoreAdvice advice{.missing = "leave it out", .closing = "See the guide"};
  const absl::Status status = CheckRestorable(*reader, {unlike}, advice);
  EXPECT_THAT(status, ErrorHas("leave it out"));
  EXPECT_THAT(status, ErrorHas("See the guide"));
  EXPECT_THAT(status, ErrorIs(Not(HasSubstr("partial_restore"))));
}

TEST_F(RestoreTest, TwoVariablesOfOneValueAndAnotherNameAreBothHeldAgainstIt) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const WantedVariable a{.name = "a", .spec = {DType::kFloat32, {10}}, .stored_name = "dense/bias"};
  const WantedVariable b{.name = "b", .spec = {DType::kFloat32, {11}}, .stored_name = "dense/bias"};
  EST_EXPECT_OK(CheckRestorable(*reader, {a}));
  const absl::Status status = CheckRestorable(*reader, {a, b});
  EXPECT_THAT(status, ErrorHas("1 of 2 variables"));
  EXPECT_THAT(status, ErrorHas("b (there dense/bias)"));
}

TEST_F(RestoreTest, WrongShapesAloneAreInvalidArguments) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  EXPECT_THAT(CheckRestorable(*reader, {Wanted("dense/bias", DType::kFloat32, {11})}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(RestoreTest, ListsAndLoadsVariablesWithoutAGraph) {
  const auto variables = ListVariables(dir_.path()).value();
  ASSERT_EQ(variables.size(), 4u);
  EXPECT_EQ(variables[0].first, "conv2d/kernel");
  EXPECT_EQ(LoadVariable(dir_.path(), "dense/bias")->num_elements(), 10);
  EXPECT_THAT(LoadCheckpoint(dir_.File("none")), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RestoreTest, AScopeTooManyIsToldOnlyWhereAllTypesFit) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const auto check = [&](const Shape& bias) {
    return CheckRestorable(*reader,
                           {Wanted("net/dense/kernel", DType::kFloat32, {4, 10}),
                            Wanted("net/dense/bias", DType::kFloat32, bias)},
                           {.maps_scopes = true});
  };
  EXPECT_THAT(check({10}), ErrorHas("without the scope \"net/\" (dense/kernel, asked for as"));
  EXPECT_THAT(check({11}), ErrorIs(Not(HasSubstr("only a prefix"))));
}

}  // namespace
}  // namespace estimator
