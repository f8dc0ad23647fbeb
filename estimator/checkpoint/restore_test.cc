#include "estimator/checkpoint/restore.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

class RestoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::map<std::string, Array> variables = {
        {"global_step", Array::Scalar<int32_t>(7)},
        {"conv2d/kernel", Array(DType::kFloat32, {3, 3, 1, 8})},
        {"dense/kernel", Array(DType::kFloat32, {4, 10})},
        {"dense/bias", Array(DType::kFloat32, {10})},
    };
    ASSERT_TRUE(Saver().Save(dir_.path(), 7, variables).ok());
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
  ASSERT_TRUE(fits.ok()) << fits;
  Array value(DType::kInt64, {});
  ASSERT_TRUE(RestoreInto(*reader, step, &value).ok());
  EXPECT_EQ(value.scalar<int64_t>(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.path()).value(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.File("none")).value(), 0);
}

TEST_F(RestoreTest, ReadsWhereTheValueLies) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  Array bias(DType::kFloat32, {10}), other(DType::kFloat32, {11});
  bias.data<float>()[3] = 5;
  const void* const bytes = bias.raw();
  ASSERT_TRUE(RestoreInto(*reader, Wanted("dense/bias", DType::kFloat32, {10}), &bias).ok());
  EXPECT_EQ(bias.data<float>()[3], 0);
  EXPECT_EQ(bias.raw(), bytes);
  EXPECT_EQ(RestoreInto(*reader, Wanted("dense/bias", DType::kFloat32, {11}), &other).code(),
            absl::StatusCode::kInvalidArgument);
}

// Fixed bugs: dense/kernel/Adam was named as what dense/kernel/Momentum had been renamed from, and
// an average was taken for a slot of another optimizer.
TEST_F(RestoreTest, ASlotOfAnotherOptimizerIsNotARenamedOneNorIsANewAverage) {
  const TempDir dir;
  ASSERT_TRUE(Saver()
                  .Save(dir.path(), 1,
                        {{"dense/kernel", Array(DType::kFloat32, {4, 10})},
                         {"dense/kernel/Adam", Array(DType::kFloat32, {4, 10})}})
                  .ok());
  const auto reader = LoadCheckpoint(dir.path()).value();
  for (const char* name : {"dense/kernel/Momentum", "dense/kernel/ExponentialMovingAverage"}) {
    const std::string message(
        CheckRestorable(*reader, {Wanted("dense/kernel", DType::kFloat32, {4, 10}),
                                  Wanted(name, DType::kFloat32, {4, 10})})
            .message());
    EXPECT_NE(message.find("a slot or an average that was not kept"), std::string::npos) << message;
    EXPECT_EQ(message.find("renamed"), std::string::npos) << message;
  }
}

TEST_F(RestoreTest, OneTableNamesEveryMismatch) {
  const auto reader = LoadCheckpoint(dir_.File("model.ckpt-7.index")).value();
  const absl::Status status =
      CheckRestorable(*reader, {Wanted("conv2d_1/kernel", DType::kFloat32, {3, 3, 1, 8}),
                                Wanted("dense/kernel", DType::kFloat32, {10, 4}),
                                Wanted("dense/bias", DType::kBfloat16, {10}),
                                Wanted("global_step", DType::kInt64, {})});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  const std::string text(status.message());
  for (const char* part :
       {"3 of 4 variables differ", "conv2d/kernel", "f32 [10,4]", "f32 [4,10]", "transposed",
        "bf16 [10]", "another dtype", "Scaffold::restore_names", "warm_start_from"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("global_step"), std::string::npos);
}

// Fixed bug: the cure was the flags of a network that has other layers, and those were not shown.
TEST_F(RestoreTest, OfAnotherNetworkTheTableHasWhatIsOnlyInTheCheckpoint) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const auto message = [&](const std::vector<WantedVariable>& wanted) {
    return std::string(CheckRestorable(*reader, wanted).message());
  };
  const WantedVariable kernel = Wanted("dense/kernel", DType::kFloat32, {2, 64}),
                       bias = Wanted("dense/bias", DType::kFloat32, {64});
  const std::string other =
      message({kernel, bias, Wanted("dense/kernel/Momentum", DType::kFloat32, {2, 64})});
  EXPECT_EQ(other.find("a slot or an average"), std::string::npos) << other;
  EXPECT_NE(other.find("3 of 3 variables differ, 1 is only in the checkpoint"), std::string::npos)
      << other;
  EXPECT_NE(other.find("  -           f32 [3,3,1,8]  -             not in this model"),
            std::string::npos)
      << other;
  EXPECT_NE(other.find("another network: another model_dir"), std::string::npos) << other;
  EXPECT_EQ(other.find("another size"), std::string::npos) << other;
  EXPECT_EQ(other.find("global_step"), std::string::npos) << other;
  const std::string size =
      message({kernel, bias, Wanted("conv2d/kernel", DType::kFloat32, {3, 3, 1, 8})});
  EXPECT_NE(size.find("another size of the network"), std::string::npos) << size;
  EXPECT_EQ(size.find("only in"), std::string::npos) << size;
}

TEST_F(RestoreTest, SlotsAndMoreThanSomeRowsOfTheCheckpointAreNotShown) {
  const TempDir dir;
  std::map<std::string, Array> variables = {{"a", Array(DType::kFloat32, {4})}};
  for (int i = 100; i < 130; ++i) {
    const std::string name = absl::StrCat("layer_", i, "/kernel");
    variables[name] = variables[name + "/Momentum"] = Array(DType::kFloat32, {2});
  }
  ASSERT_TRUE(Saver().Save(dir.path(), 1, variables).ok());
  const std::string text(
      CheckRestorable(*LoadCheckpoint(dir.path()).value(), {Wanted("a", DType::kFloat32, {5})})
          .message());
  EXPECT_NE(text.find("30 are only in the checkpoint (20 are shown)"), std::string::npos) << text;
  EXPECT_NE(text.find("layer_119/kernel"), std::string::npos) << text;
  EXPECT_EQ(text.find("layer_120/kernel"), std::string::npos) << text;
  EXPECT_EQ(text.find("Momentum"), std::string::npos) << text;
}

TEST_F(RestoreTest, TheCureNamesTheSettingsOfTheCaller) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const WantedVariable unlike = Wanted("embeddings", DType::kFloat32, {3});
  EXPECT_NE(CheckRestorable(*reader, {unlike}).message().find("Scaffold::partial_restore"),
            absl::string_view::npos);
  const RestoreAdvice advice{.missing = "leave it out", .closing = "See the guide"};
  const std::string text(CheckRestorable(*reader, {unlike}, advice).message());
  EXPECT_NE(text.find("leave it out"), std::string::npos) << text;
  EXPECT_NE(text.find("See the guide"), std::string::npos) << text;
  EXPECT_EQ(text.find("partial_restore"), std::string::npos) << text;
}

TEST_F(RestoreTest, TwoVariablesOfOneValueAndAnotherNameAreBothHeldAgainstIt) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const WantedVariable a{.name = "a", .spec = {DType::kFloat32, {10}}, .stored_name = "dense/bias"};
  const WantedVariable b{.name = "b", .spec = {DType::kFloat32, {11}}, .stored_name = "dense/bias"};
  EXPECT_TRUE(CheckRestorable(*reader, {a}).ok());
  const std::string text(CheckRestorable(*reader, {a, b}).message());
  EXPECT_NE(text.find("1 of 2 variables"), std::string::npos) << text;
  EXPECT_NE(text.find("b (there dense/bias)"), std::string::npos) << text;
}

TEST_F(RestoreTest, WrongShapesAloneAreInvalidArguments) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  EXPECT_EQ(CheckRestorable(*reader, {Wanted("dense/bias", DType::kFloat32, {11})}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RestoreTest, ListsAndLoadsVariablesWithoutAGraph) {
  const auto variables = ListVariables(dir_.path()).value();
  ASSERT_EQ(variables.size(), 4u);
  EXPECT_EQ(variables[0].first, "conv2d/kernel");
  EXPECT_EQ(LoadVariable(dir_.path(), "dense/bias")->num_elements(), 10);
  EXPECT_EQ(LoadCheckpoint(dir_.File("none")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace estimator
