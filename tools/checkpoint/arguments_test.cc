#include "tools/checkpoint/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

const std::vector<std::string>& Names() {
  static const auto* const names = new std::vector<std::string>{
      "dense/kernel", "dense/kernel/Momentum", "dense_1/kernel", "global_step"};
  return *names;
}

TEST(NameMap, RenamesAVariableWithItsSlotsOrAWholeScope) {
  EXPECT_THAT(
      *NameMap::Parse("dense/kernel=a/w")->Apply(Names()),
      ElementsAre(Pair("dense/kernel", "a/w"), Pair("dense/kernel/Momentum", "a/w/Momentum"),
                  Pair("dense_1/kernel", "dense_1/kernel"), Pair("global_step", "global_step")));
  EXPECT_THAT(
      *NameMap::Parse("dense/=a/,dense/kernel/Momentum=m")->Apply(Names()),
      ElementsAre(Pair("dense/kernel", "a/kernel"), Pair("dense/kernel/Momentum", "m"),
                  Pair("dense_1/kernel", "dense_1/kernel"), Pair("global_step", "global_step")));
}

TEST(NameMap, SwapsNames) {
  EXPECT_THAT(*NameMap::Parse("dense=dense_1,dense_1=dense")->Apply({"dense/k", "dense_1/k"}),
              ElementsAre(Pair("dense/k", "dense_1/k"), Pair("dense_1/k", "dense/k")));
}

TEST(NameMap, ReadsAFile) {
  const TempDir dir;
  EST_ASSERT_OK(
      WriteFileAtomically(dir.File("map"), "# slots follow\ndense = a\nglobal_step step\n\n"));
  const auto renamed = NameMap::Parse(dir.File("map"))->Apply(Names());
  EST_ASSERT_OK(renamed);
  EXPECT_EQ(renamed->at("global_step"), "step");
  EXPECT_EQ(renamed->at("dense/kernel"), "a/kernel");
}

TEST(NameMap, RefusesWhatFitsNothingOrMakesTwoOfOneName) {
  EXPECT_THAT(NameMap::Parse("dens/kernel=a,x=y")->Apply(Names()),
              ErrorHas("dens/kernel (did you mean 'dense/kernel'?), x"));
  EXPECT_THAT(NameMap::Parse("dense=dense_1")->Apply(Names()),
              ErrorHas("dense/kernel and dense_1/kernel become dense_1/kernel"));
  for (const char* const bad : {"", "a", "a=", "=b", "a b", "a=b,a=c"}) {
    EXPECT_THAT(NameMap::Parse(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(Arguments, FiltersByRegularExpressions) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("m")).value();
  for (const std::string& name : Names()) {
    EST_ASSERT_OK(writer->Add(name, Array::Scalar<float>(1)));
  }
  EST_ASSERT_OK(writer->Finish());
  const auto reader = BundleReader::Open(dir.File("m")).value();
  EXPECT_THAT(*SelectNames(*reader, {.include = "^dense", .exclude = "Momentum$"}),
              ElementsAre("dense/kernel", "dense_1/kernel"));
  EXPECT_THAT(SelectNames(*reader, {.include = "("}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SelectNames(*reader, {.include = "none"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST(Arguments, ACheckpointThatIsThereIsNotReplacedUnasked) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("v1"), "in one file"));
  EXPECT_THAT(PrepareOutput(dir.File("v1"), false), StatusIs(absl::StatusCode::kAlreadyExists));
  EST_ASSERT_OK(PrepareOutput(dir.File("new/m"), false));
  EST_ASSERT_OK(BundleWriter::Open(dir.File("new/m")).value()->Finish());
  EXPECT_THAT(PrepareOutput(dir.File("new/m"), false), StatusIs(absl::StatusCode::kAlreadyExists));
  EST_EXPECT_OK(PrepareOutput(dir.File("new/m"), true));
  EXPECT_THAT(PrepareOutput(dir.File("new"), true), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
