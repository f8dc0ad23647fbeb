#include "estimator/checkpoint/restore.h"

#include <gtest/gtest.h>

#include <string>

#include "estimator/base/temp_dir.h"
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

TEST_F(RestoreTest, ASubsetIsFineAndAnInt32StepServesForInt64) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  const auto values = RestoreVariables(
      *reader, {{"global_step", {DType::kInt64, {}}}, {"dense/bias", {DType::kFloat32, {10}}}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->at("global_step").scalar<int64_t>(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.path()).value(), 7);
  EXPECT_EQ(LoadGlobalStep(dir_.File("none")).value(), 0);
}

TEST_F(RestoreTest, ReadsWhereTheTargetsLieAndWritesNothingWhereOneDoesNotFit) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  Array bias = Array(DType::kFloat32, {10}), step = Array::Scalar<int64_t>(-1);
  bias.data<float>()[3] = 5;
  const void* const bytes = bias.raw();
  Array other(DType::kFloat32, {11});
  EXPECT_EQ(RestoreInto(*reader, {{"dense/bias", &bias}, {"conv2d/kernel", &other}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(bias.data<float>()[3], 5);
  ASSERT_TRUE(RestoreInto(*reader, {{"dense/bias", &bias}, {"global_step", &step}}).ok());
  EXPECT_EQ(bias.data<float>()[3], 0);
  EXPECT_EQ(bias.raw(), bytes);
  EXPECT_EQ(step.scalar<int64_t>(), 7);
}

TEST_F(RestoreTest, OneTableNamesEveryMismatch) {
  const auto reader = LoadCheckpoint(dir_.File("model.ckpt-7.index")).value();
  const absl::Status status =
      CheckRestorable(*reader, {{"conv2d_1/kernel", {DType::kFloat32, {3, 3, 1, 8}}},
                                {"dense/kernel", {DType::kFloat32, {10, 4}}},
                                {"dense/bias", {DType::kBfloat16, {10}}},
                                {"global_step", {DType::kInt64, {}}}});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  const std::string text(status.message());
  for (const char* part : {"3 of 4 variables differ", "conv2d/kernel", "f32 [10,4]", "f32 [4,10]",
                           "transposed", "bf16 [10]", "another dtype", "renamed"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("global_step"), std::string::npos);
}

TEST_F(RestoreTest, WrongShapesAloneAreInvalidArguments) {
  const auto reader = LoadCheckpoint(dir_.path()).value();
  EXPECT_EQ(CheckRestorable(*reader, {{"dense/bias", {DType::kFloat32, {11}}}}).code(),
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
