#include "estimator/checkpoint/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SaveVariables, WritesACheckpointThatTheReadersRead) {
  const TempDir dir;
  const std::string prefix = dir.File("new/folder/model.ckpt");
  EST_ASSERT_OK(SaveVariables(prefix, {{"dense/kernel", Array::Of<float>({1, 2}, {3, 4})},
                                       {"vocabulary", Array::Strings({"cat", "dog"})}}));
  std::vector<std::string> names;
  for (const auto& [name, spec] : *ListVariables(prefix))
    names.push_back(name + " " + spec.ToString());
  EXPECT_THAT(names, ElementsAre("dense/kernel f32 [1,2]", "vocabulary str [2]"));
  EST_ASSERT_OK_AND_ASSIGN(const Array kernel, LoadVariable(prefix, "dense/kernel"));
  EXPECT_THAT(kernel.values<float>(), ElementsAre(3, 4));
  EST_ASSERT_OK_AND_ASSIGN(const Array words, LoadVariable(prefix, "vocabulary"));
  EXPECT_THAT(words.values<std::string>(), ElementsAre("cat", "dog"));
}

TEST(SaveVariables, ReplacesACheckpointOfTheSamePrefix) {
  const TempDir dir;
  const std::string prefix = dir.File("model.ckpt");
  EST_ASSERT_OK(SaveVariables(prefix, {{"a", Array::Scalar(1.f)}}));
  EST_ASSERT_OK(SaveVariables(prefix, {{"b", Array::Scalar(2.f)}}));
  EXPECT_EQ(ListVariables(prefix)->size(), 1u);
  EXPECT_EQ(LoadVariable(prefix, "b")->scalar<float>(), 2);
}

TEST(SaveVariables, AnErrorNamesTheVariableAndLeavesTheOldCheckpoint) {
  const TempDir dir;
  const std::string prefix = dir.File("model.ckpt");
  EST_ASSERT_OK(SaveVariables(prefix, {{"a", Array::Scalar(1.f)}}));
  EXPECT_THAT(SaveVariables(prefix, {{"a", Array::Scalar(2.f)}, {"unset", Array()}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unset: the array has no")));
  EXPECT_EQ(LoadVariable(prefix, "a")->scalar<float>(), 1);
  EXPECT_THAT(SaveVariables(dir.path() + "/", {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it needs a name")));
}

}  // namespace
}  // namespace estimator
