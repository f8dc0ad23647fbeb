#include "tools/replay/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "tools/replay/testing/tiny_reference.h"

namespace estimator::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TinyReference;

std::string LoadError(const TinyReference& reference) {
  const TempDir directory;
  reference.Write(directory.path());
  return Reference::Load(directory.path()).status().ToString();
}

TEST(ReferenceTest, LoadsWhatIsThere) {
  const TempDir directory;
  TinyReference().Write(directory.path());
  const absl::StatusOr<Reference> reference = Reference::Load(directory.path());
  EST_ASSERT_OK(reference);
  EXPECT_EQ(reference->description(), "one weight");
  EXPECT_EQ(reference->made_by(), "Paper 1.0");
  EXPECT_EQ(reference->mode(), Mode::kTrain);
  EXPECT_EQ(reference->num_steps(), 3);
  EXPECT_EQ(reference->tolerances().rtol, 1e-5);
  EXPECT_EQ(reference->tolerances().variable_rtol, 1e-4);
  EXPECT_THAT(reference->Names("final/"), ElementsAre("global_step", "w"));
  EXPECT_TRUE(reference->Has("loss"));
  EXPECT_EQ(reference->Expected("gradient/w")->AsDouble(), -5);
  EXPECT_THAT(reference->Expected("gradient/v").status().ToString(),
              HasSubstr("has no expected value 'gradient/v' (did you mean 'gradient/w'?)"));
}

TEST(ReferenceTest, BatchesComeRoundAgain) {
  TinyReference tiny;
  tiny.batches = {{"features/x", Array::Of<float>({2, 1}, {1, 2})},
                  {"features/z", Array::Of<float>({2, 1}, {3, 4})},
                  {"labels/y", Array::Of<float>({2, 1}, {5, 6})}};
  const TempDir directory;
  tiny.Write(directory.path());
  const absl::StatusOr<Reference> reference = Reference::Load(directory.path());
  EST_ASSERT_OK(reference);
  const Element batch = reference->Batch(3);
  EXPECT_EQ(batch.features.at("x").AsDouble(), 2);
  EXPECT_EQ(batch.features.at("z").AsDouble(), 4);
  EXPECT_EQ(batch.labels.at("y").AsDouble(), 6);
}

TEST(ReferenceTest, AFolderOrManifestThatIsNotThereIsNamed) {
  const TempDir directory;
  EXPECT_THAT(Reference::Load(directory.File("no")).status().ToString(),
              HasSubstr("NOT_FOUND: there is no folder"));
  EXPECT_THAT(Reference::Load(directory.path()).status().ToString(),
              HasSubstr("there is no reference.textproto in"));
}

TEST(ReferenceTest, AManifestThatCannotBeReadIsNamedWithItsLine) {
  TinyReference tiny;
  tiny.manifest += "num_stepps: 3\n";
  EXPECT_THAT(LoadError(tiny), HasSubstr("reference.textproto:9:"));
  EXPECT_THAT(LoadError(tiny), HasSubstr("num_stepps"));
  tiny.manifest = "description: \"nothing more\"\natol: -1\n";
  EXPECT_THAT(LoadError(tiny), HasSubstr("does not say num_steps (1 or more), initial_checkpoint, "
                                         "batches, expected, atol (0 or more)"));
}

TEST(ReferenceTest, ACheckpointThatIsNotThereIsNamedWithItsManifest) {
  TinyReference tiny;
  tiny.manifest = absl::StrReplaceAll(tiny.manifest, {{"\"initial\"", "\"../elsewhere\""}});
  EXPECT_THAT(LoadError(tiny), HasSubstr("reference.textproto names '../elsewhere'"));
}

TEST(ReferenceTest, BatchesThatDoNotFitTogetherAreAnError) {
  TinyReference tiny;
  tiny.batches["labels"] = Array::Of<float>({2, 1}, {2, 4});
  EXPECT_THAT(LoadError(tiny), HasSubstr("'labels' is f32 [2,1], but must be [1, batch size"));
  tiny.batches["labels"] = Array::Scalar(1.0f);
  EXPECT_THAT(LoadError(tiny), HasSubstr("'labels' is f32 []"));
  tiny.batches = {{"featurex", Array::Of<float>({1, 1}, {2})}};
  EXPECT_THAT(LoadError(tiny), HasSubstr("'featurex' is neither features, features/<name>"));
  tiny.batches = {};
  EXPECT_THAT(LoadError(tiny), HasSubstr("has no batches"));
}

TEST(ReferenceTest, ADamagedDataFileIsDataLoss) {
  const TempDir directory;
  TinyReference().Write(directory.path());
  const std::string data = directory.File("batches.data-00000-of-00001");
  std::string bytes = *ReadFile(data);
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  EST_ASSERT_OK(WriteFileAtomically(data, bytes));
  const absl::Status status = Reference::Load(directory.path()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(status.ToString(), HasSubstr("batches.data-00000-of-00001"));
}

}  // namespace
}  // namespace estimator::replay
