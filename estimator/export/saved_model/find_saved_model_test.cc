#include "estimator/export/saved_model/find_saved_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FindSavedModel : public ::testing::Test {
 protected:
  void Write(const std::string& name) const {
    EST_ASSERT_OK(CreateDirectories(Dirname(dir_.File(name))));
    EST_ASSERT_OK(WriteFileAtomically(dir_.File(name), ""));
  }
  static absl::Status Error(const std::string& path) {
    const absl::Status status = NoSavedModel(path);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                                 HasSubstr("SavedModel file does not exist at: " + path + "/")));
    return status;
  }

  TempDir dir_;
};

TEST_F(FindSavedModel, TheNewestExportIsTheLargestNumberThatHoldsOne) {
  EXPECT_EQ(NewestExport(dir_.path()), "");
  for (const char* name : {"999", "1700000000", "1700000001", "temp-1700000002", "other"})
    Write(absl::StrCat(name, "/saved_model.pb"));
  EST_ASSERT_OK(CreateDirectories(dir_.File("1700000009")));  // nothing in it
  EXPECT_EQ(NewestExport(dir_.path()), dir_.File("1700000001"));
  EXPECT_TRUE(HoldsSavedModel(dir_.File("other")));
  EXPECT_FALSE(HoldsSavedModel(dir_.path()));
}

TEST_F(FindSavedModel, AFolderOfExportsNamesTheNewest) {
  Write("export/best/1700000000/saved_model.pb");
  Write("export/last/1700000001/saved_model.pbtxt");
  const std::string newest = dir_.File("export/last/1700000001");
  for (const std::string& folder :
       {dir_.path(), dir_.File("export"), dir_.File("export/last"), dir_.File("export/last/")}) {
    EXPECT_THAT(Error(folder), ErrorHas("pass one of them; the newest is ")) << folder;
    EXPECT_THAT(Error(folder), ErrorHas(newest));
  }
  EXPECT_THAT(Error(dir_.path()), ErrorIs(Not(HasSubstr("MakePredictor"))));
}

// Fixed bug: between folders they were compared as words.
TEST_F(FindSavedModel, TheNewestOfSeveralFoldersIsTheLargestNumber) {
  Write("export/a/999/saved_model.pb");
  Write("export/b/1700000000/saved_model.pb");
  EXPECT_THAT(Error(dir_.path()), ErrorHas("the newest is " + dir_.File("export/b/1700000000")));
}

TEST_F(FindSavedModel, AModelDirIsForMakePredictor) {
  Write("m/checkpoint");
  Write("m/model.ckpt-7.index");
  EXPECT_THAT(Error(dir_.File("m")), ErrorIs(AllOf(HasSubstr("the folder contains checkpoints"),
                                                   HasSubstr("MakePredictor(receiver_fn)"))));
  EXPECT_THAT(Error(dir_.File("m/model.ckpt-7")),
              ErrorIs(AllOf(HasSubstr("the path is a checkpoint"), HasSubstr("MakePredictor"))));
  Write("m/export/best/5/saved_model.pb");
  EXPECT_THAT(Error(dir_.File("m")),
              ErrorIs(AllOf(HasSubstr("the newest is " + dir_.File("m/export/best/5")),
                            HasSubstr("MakePredictor"))));
}

TEST_F(FindSavedModel, AFileAndAnythingElseAreSaid) {
  Write("5/saved_model.pb");
  EXPECT_THAT(Error(dir_.File("5/saved_model.pb")),
              ErrorIs(AllOf(HasSubstr("the path is a file"), HasSubstr("pass " + dir_.File("5")))));
  EXPECT_THAT(Error(dir_.File("none")), ErrorHas("there is no such folder"));
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) Write(absl::StrCat("x/", name));
  EXPECT_THAT(Error(dir_.File("x")), ErrorHas("the folder contains a, b, c, d, e and 2 more"));
  EST_ASSERT_OK(CreateDirectories(dir_.File("empty")));
  EXPECT_THAT(Error(dir_.File("empty")), ErrorHas("the folder contains nothing"));
}

}  // namespace
}  // namespace estimator
