#include "tools/checkpoint/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const std::vector<std::string>& Names() {
  static const auto* const names = new std::vector<std::string>{
      "dense/kernel", "dense/kernel/Momentum", "dense_1/kernel", "global_step"};
  return *names;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

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
  ASSERT_TRUE(
      WriteFileAtomically(dir.File("map"), "# slots follow\ndense = a\nglobal_step step\n\n").ok());
  const auto renamed = NameMap::Parse(dir.File("map"))->Apply(Names());
  ASSERT_TRUE(renamed.ok()) << renamed.status();
  EXPECT_EQ(renamed->at("global_step"), "step");
  EXPECT_EQ(renamed->at("dense/kernel"), "a/kernel");
}

TEST(NameMap, RefusesWhatFitsNothingOrMakesTwoOfOneName) {
  EXPECT_THAT(Message(NameMap::Parse("dens/kernel=a,x=y")->Apply(Names()).status()),
              HasSubstr("dens/kernel (did you mean dense/kernel?), x"));
  EXPECT_THAT(Message(NameMap::Parse("dense=dense_1")->Apply(Names()).status()),
              HasSubstr("dense/kernel and dense_1/kernel become dense_1/kernel"));
  for (const char* const bad : {"", "a", "a=", "=b", "a b", "a=b,a=c"}) {
    EXPECT_EQ(NameMap::Parse(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(Arguments, FiltersByRegularExpressions) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("m")).value();
  for (const std::string& name : Names()) {
    ASSERT_TRUE(writer->Add(name, Array::Scalar<float>(1)).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = BundleReader::Open(dir.File("m")).value();
  EXPECT_THAT(*SelectNames(*reader, {.include = "^dense", .exclude = "Momentum$"}),
              ElementsAre("dense/kernel", "dense_1/kernel"));
  EXPECT_EQ(SelectNames(*reader, {.include = "("}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SelectNames(*reader, {.include = "none"}).status().code(), absl::StatusCode::kNotFound);
}

TEST(Arguments, ACheckpointThatIsThereIsNotReplacedUnasked) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("v1"), "in one file").ok());
  EXPECT_EQ(PrepareOutput(dir.File("v1"), false).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(PrepareOutput(dir.File("new/m"), false).ok());
  ASSERT_TRUE(BundleWriter::Open(dir.File("new/m")).value()->Finish().ok());
  EXPECT_EQ(PrepareOutput(dir.File("new/m"), false).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(PrepareOutput(dir.File("new/m"), true).ok());
  EXPECT_EQ(PrepareOutput(dir.File("new"), true).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace estimator
