#include "estimator/export/saved_model/saved_model_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(ReadSavedModelTest, BothFormsAreReadAndTheBinaryOneWins) {
  const TempDir dir;
  EST_ASSERT_OK(
      WriteFileAtomically(dir.File("saved_model.pbtxt"), "saved_model_schema_version: 1"));
  auto model = ReadSavedModelProto(dir.path());
  EST_ASSERT_OK(model);
  EXPECT_EQ(model->saved_model_schema_version(), 1);
  model->set_saved_model_schema_version(2);
  EST_ASSERT_OK(WriteFileAtomically(dir.File("saved_model.pb"), model->SerializeAsString()));
  EXPECT_EQ(ReadSavedModelProto(dir.path())->saved_model_schema_version(), 2);
}

// A fixed bug: a text with messages nested 30,000 deep overflowed the stack.
TEST(ReadSavedModelTest, ADeeplyNestedTextIsRefused) {
  const TempDir dir;
  std::string text = "meta_graphs { graph_def { library { function { ";
  std::string end = "}}}}";
  for (int i = 0; i < 100'000; ++i) {
    text += "attr { key: 'a' value { func { name: 'f' ";
    end += "}}}";
  }
  EST_ASSERT_OK(WriteFileAtomically(dir.File("saved_model.pbtxt"), text + end));
  EXPECT_THAT(ReadSavedModelProto(dir.path()), ErrorHas("are not a SavedModel in protobuf's text"));
}

TEST(ReadSavedModelTest, AMissingOrBrokenFileIsNamed) {
  const TempDir dir;
  const absl::Status missing = ReadSavedModelProto(dir.path()).status();
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir.path())));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("saved_model.pbtxt"), "meta_graphs {"));
  const absl::Status text = ReadSavedModelProto(dir.path()).status();
  EXPECT_THAT(text,
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("saved_model.pbtxt: these 13 bytes are not a SavedModel in ")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("saved_model.pb"), "\x08"));
  const absl::Status binary = ReadSavedModelProto(dir.path()).status();
  EXPECT_THAT(binary, StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("saved_model.pb: these 1 bytes are not a SavedModel")));
}

}  // namespace
}  // namespace estimator
