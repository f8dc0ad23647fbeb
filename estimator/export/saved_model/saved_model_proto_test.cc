#include "estimator/export/saved_model/saved_model_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(ReadSavedModelTest, BothFormsAreReadAndTheBinaryOneWins) {
  const TempDir dir;
  ASSERT_TRUE(
      WriteFileAtomically(dir.File("saved_model.pbtxt"), "saved_model_schema_version: 1").ok());
  auto model = ReadSavedModelProto(dir.path());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->saved_model_schema_version(), 1);
  model->set_saved_model_schema_version(2);
  ASSERT_TRUE(WriteFileAtomically(dir.File("saved_model.pb"), model->SerializeAsString()).ok());
  EXPECT_EQ(ReadSavedModelProto(dir.path())->saved_model_schema_version(), 2);
}

TEST(ReadSavedModelTest, AMissingOrBrokenFileIsNamed) {
  const TempDir dir;
  const absl::Status missing = ReadSavedModelProto(dir.path()).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(missing), HasSubstr(dir.path()));
  ASSERT_TRUE(WriteFileAtomically(dir.File("saved_model.pbtxt"), "meta_graphs {").ok());
  const absl::Status text = ReadSavedModelProto(dir.path()).status();
  EXPECT_EQ(text.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(text), HasSubstr("saved_model.pbtxt: these 13 bytes are no SavedModel in "));
  ASSERT_TRUE(WriteFileAtomically(dir.File("saved_model.pb"), "\x08").ok());
  const absl::Status binary = ReadSavedModelProto(dir.path()).status();
  EXPECT_EQ(binary.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(binary), HasSubstr("saved_model.pb: these 1 bytes are no SavedModel"));
}

}  // namespace
}  // namespace estimator
