#include "estimator/checkpoint/latest_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/checkpoint/testing/v1_files.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LatestCheckpointTest : public ::testing::Test {
 protected:
  void SaveSteps(const std::vector<int>& steps) {
    Saver saver;
    for (const int step : steps) {
      EST_ASSERT_OK(saver.Save(dir_.path(), step, {{"w", Array::Of<float>({2}, {1, 2})}}));
    }
  }
  std::string Prefix(int step) { return dir_.File(absl::StrCat("model.ckpt-", step)); }

  const TempDir dir_;
  std::vector<std::string> warnings_;
};

TEST_F(LatestCheckpointTest, NoDirectoryAndAnEmptyOneHaveNone) {
  EXPECT_EQ(LatestCheckpoint(dir_.File("none"), &warnings_).value(), std::nullopt);
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), std::nullopt);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(LatestCheckpointTest, AFileIsNoDirectoryOfCheckpoints) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("file"), "text"));
  EXPECT_THAT(LatestCheckpoint(dir_.File("file")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is a file, not a dir")));
  EXPECT_THAT(LatestCheckpoint(dir_.File("file/below")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Not a directory")));
}

TEST_F(LatestCheckpointTest, IsTheOneThatTheStateFileNames) {
  SaveSteps({5, 10});
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(10));
  EST_ASSERT_OK(WriteCheckpointState(dir_.path(), {.model_checkpoint_path = Prefix(5)}));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(5));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(LatestCheckpointTest, AFolderIsNoCheckpointAndItsNewestIsNamed) {
  SaveSteps({5, 10});
  const absl::Status status = CheckCheckpoint(dir_.path());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("not one of them; give one, for example " + Prefix(10))));
}

// Fixed bug: training began anew in a new directory of that name.
TEST_F(LatestCheckpointTest, TheNameOfACheckpointIsNoModelDir) {
  SaveSteps({5});
  EST_ASSERT_OK(WriteV1File(Prefix(3), {{.name = "w", .value = Array::Scalar<float>(1)}}));
  EST_ASSERT_OK(WriteV1File(Prefix(4) + "-00000-of-00001",
                            {{.name = "w", .value = Array::Scalar<float>(1)}}));
  for (const std::string& path : {Prefix(5), Prefix(5) + "/", IndexPath(Prefix(5)),
                                  DataPath(Prefix(5), 0, 1), Prefix(3), Prefix(4)}) {
    EXPECT_THAT(CheckModelDir(path),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("is a checkpoint, not a model directory"),
                               HasSubstr("Give its directory " + dir_.path() + " to continue"))))
        << path;
  }
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("notes"), "text"));
  for (const std::string& path : {dir_.path(), Prefix(6), dir_.File("none"), dir_.File("notes"),
                                  dir_.File("checkpoint"), std::string()}) {
    EST_EXPECT_OK(CheckModelDir(path)) << path;
  }
}

TEST_F(LatestCheckpointTest, ACheckpointBesideAFolderOfItsNameIsOne) {
  SaveSteps({5});
  for (const auto& [from, to] :
       {std::pair(IndexPath(Prefix(5)), IndexPath(dir_.path())),
        std::pair(DataPath(Prefix(5), 0, 1), DataPath(dir_.path(), 0, 1))}) {
    EST_ASSERT_OK(WriteFileAtomically(to, ReadFile(from).value()));
  }
  EST_EXPECT_OK(CheckCheckpoint(dir_.path()));
  EST_ASSERT_OK(RemoveFile(IndexPath(dir_.path())));
  EST_ASSERT_OK(RemoveFile(DataPath(dir_.path(), 0, 1)));
}

TEST_F(LatestCheckpointTest, GoesBackToTheNewestWholeOneAndSaysSo) {
  SaveSteps({5, 10, 20});
  EST_ASSERT_OK(RemoveFile(DataPath(Prefix(20), 0, 1)));
  EST_ASSERT_OK(WriteFileAtomically(IndexPath(Prefix(10)), "rubbish"));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(5));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("falling back to checkpoint"), std::string::npos) << warnings_[0];
  EXPECT_NE(warnings_[0].find(DataPath(Prefix(20), 0, 1)), std::string::npos) << warnings_[0];
}

// A fixed bug: fields nested 30,000 deep overflowed the stack.
TEST_F(LatestCheckpointTest, ADeeplyNestedStateFileIsGarbled) {
  const TempDir dir;
  std::string text = "model_checkpoint_path: 'model.ckpt-4' u ", end;
  for (int i = 0; i < 100'000; ++i) {
    text += "{a ";
    end += "}";
  }
  EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(dir.path()), text + end));
  EXPECT_THAT(GetCheckpointState(dir.path()), ErrorHas("is not a checkpoint state"));
}

TEST_F(LatestCheckpointTest, AGarbledStateFileFallsBackToTheHighestStep) {
  SaveSteps({9, 10});
  for (const char* text :
       {"\x01\xff", "model_checkpoint_path: ", "all_model_checkpoint_paths: \"x\""}) {
    warnings_.clear();
    EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(dir_.path()), text));
    EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(10));
    ASSERT_EQ(warnings_.size(), 1u);
    // Fixed bug: it was called going back, where nothing newer is.
    EXPECT_EQ(warnings_[0].find("using the newest checkpoint, " + Prefix(10)), 0u) << warnings_[0];
    EXPECT_NE(warnings_[0].find(CheckpointStatePath(dir_.path())), std::string::npos);
  }
  warnings_.clear();
  EST_ASSERT_OK(WriteFileAtomically(IndexPath(Prefix(10)), "rubbish"));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(9));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0].find("falling back to checkpoint " + Prefix(9)), 0u) << warnings_[0];
}

// Fixed bug: a new run began and overwrote the checkpoints.
TEST_F(LatestCheckpointTest, WithoutAStateFileTheNewestIsUsedAndAWarningSaysSo) {
  SaveSteps({5, 10});
  EST_ASSERT_OK(RemoveFile(CheckpointStatePath(dir_.path())));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(10));
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("using the newest checkpoint, " + Prefix(10)),
                                HasSubstr(CheckpointStatePath(dir_.path())),
                                HasSubstr("To start a new run, use another directory"))));
  EST_ASSERT_OK(WriteFileAtomically(IndexPath(Prefix(10)), "rubbish"));
  EST_ASSERT_OK(WriteFileAtomically(IndexPath(Prefix(5)), "rubbish"));
  EXPECT_THAT(LatestCheckpoint(dir_.path()), StatusIs(absl::StatusCode::kDataLoss));
}

// Every open of a file whose path contains `part` fails for lack of permission, for root too.
FaultHook MayNotOpen(const std::string& part) {
  return [part](FileOperation operation, absl::string_view path) -> Fault {
    if (operation != FileOperation::kOpen || !absl::StrContains(path, part)) return {};
    return {.status = absl::PermissionDeniedError(
                absl::StrCat("cannot open ", path, ": Permission denied")),
            .truncate_after_bytes = std::nullopt};
  };
}

// Fixed bug: it counted as damaged, and the run that fell back overwrote it.
TEST_F(LatestCheckpointTest, ACheckpointThatMayNotBeReadIsAnErrorAndNotDamage) {
  SaveSteps({5, 10});
  for (const std::string& part : {IndexPath(Prefix(10)), DataPath(Prefix(10), 0, 1)}) {
    SCOPED_TRACE(part);
    const ScopedFaultInjector faults(MayNotOpen(part));
    EXPECT_THAT(LatestCheckpoint(dir_.path(), &warnings_),
                StatusIs(absl::StatusCode::kPermissionDenied,
                         AllOf(HasSubstr("checkpoint " + Prefix(10) + " cannot be read"),
                               HasSubstr(part), HasSubstr("make it readable"))));
  }
  EXPECT_TRUE(warnings_.empty());
  {
    const ScopedFaultInjector faults(MayNotOpen(IndexPath(Prefix(5))));
    EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), Prefix(10)) << "an older one is not needed";
  }
}

// Fixed bug: the newest step in the directory replaced the one that the state file names.
TEST_F(LatestCheckpointTest, AStateFileThatMayNotBeReadIsAnError) {
  SaveSteps({5, 10});
  const ScopedFaultInjector faults(MayNotOpen(CheckpointStatePath(dir_.path())));
  EXPECT_THAT(LatestCheckpoint(dir_.path()),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr("the list of checkpoints cannot be read"),
                             HasSubstr(CheckpointStatePath(dir_.path())))));
}

// Fixed bug: "falling back to checkpoint model.ckpt-10: ", which was the newest.
TEST_F(LatestCheckpointTest, AFailureThatPassesIsNoFallBack) {
  SaveSteps({5, 10});
  int num_opens = 0;
  const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view path) -> Fault {
    const bool first =
        operation == FileOperation::kOpen && path == Prefix(10) + ".index" && num_opens++ == 0;
    return {.status = first ? absl::DataLossError("read while it was written") : absl::OkStatus()};
  });
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(10));
  EXPECT_GT(num_opens, 1);
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

// Fixed bug: an evaluation beside a run that keeps one checkpoint failed with NOT_FOUND.
TEST_F(LatestCheckpointTest, ACheckpointThatIsDeletedWhileItIsReadGivesWayToTheNewest) {
  SaveSteps({5});
  NewestCheckpoint newest(dir_.path());
  ASSERT_EQ(newest.Find().value(), Prefix(5));
  EST_ASSERT_OK(Saver({.keep_checkpoint_max = 1})
                    .Save(dir_.path(), 10, {{"w", Array::Of<float>({2}, {1, 2})}}));
  const absl::Status status = CheckCheckpoint(Prefix(5));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(newest.PassOver(Prefix(5), status));
  EXPECT_EQ(newest.Find().value(), Prefix(10));
  EXPECT_FALSE(newest.fell_back());
}

TEST_F(LatestCheckpointTest, DeletedCheckpointsAreNoneButDamagedOnesAreAnError) {
  SaveSteps({5});
  EST_ASSERT_OK(WriteFileAtomically(DataPath(Prefix(5), 0, 1), "abc"));
  EXPECT_THAT(LatestCheckpoint(dir_.path(), &warnings_), StatusIs(absl::StatusCode::kDataLoss));
  EST_ASSERT_OK(RemoveCheckpoint(Prefix(5)));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), std::nullopt);
}

TEST_F(LatestCheckpointTest, ACheckpointThatWasPassedOverCountsAgainWhenItIsWrittenAnew) {
  SaveSteps({5, 10});
  NewestCheckpoint newest(dir_.path());
  EXPECT_EQ(newest.Find().value(), Prefix(10));
  EXPECT_FALSE(newest.PassOver(Prefix(10), absl::OkStatus()));
  EXPECT_FALSE(newest.PassOver(Prefix(10), absl::NotFoundError("no such variable")));
  EXPECT_EQ(newest.Find().value(), Prefix(10));
  ASSERT_TRUE(newest.PassOver(Prefix(10), absl::DataLossError("a wrong crc32c")));
  EXPECT_EQ(newest.Find().value(), Prefix(5));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(10));
  const Array other = Array::Of<float>({2}, {3, 4});
  EST_ASSERT_OK(Saver().Save(dir_.path(), 10, {{"w", other}}));
  EXPECT_EQ(newest.Find().value(), Prefix(10));
}

TEST_F(LatestCheckpointTest, SoDoesOneOfTheV1Format) {
  const auto write = [this](float value) {
    return WriteV1File(Prefix(3), {{.name = "w", .value = Array::Scalar(value)}});
  };
  EXPECT_EQ(CheckpointModifiedTimeSeconds(Prefix(3)), 0);
  EST_ASSERT_OK(write(1));
  EST_ASSERT_OK(WriteCheckpointState(dir_.path(), {.model_checkpoint_path = Prefix(3)}));
  const double written = CheckpointModifiedTimeSeconds(Prefix(3));
  EXPECT_GT(written, 0);
  NewestCheckpoint newest(dir_.path());
  ASSERT_TRUE(newest.PassOver(Prefix(3), absl::DataLossError("a wrong crc32c")));
  EXPECT_FALSE(newest.Find().ok());
  while (CheckpointModifiedTimeSeconds(Prefix(3)) == written) EST_ASSERT_OK(write(2));
  EXPECT_EQ(newest.Find().value(), Prefix(3));
}

TEST_F(LatestCheckpointTest, V1CheckpointsThatNoStateFileNamesAreFoundToo) {
  const std::vector<V1Slice> variables = {{.name = "w", .value = Array::Scalar<float>(1)}};
  EST_ASSERT_OK(WriteV1File(Prefix(3), variables));
  EST_ASSERT_OK(WriteV1File(dir_.File("slim-00007-00000-of-00001"), variables));
  // Named as one, and not one.
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("events.out.tfevents.17.host-9"), "event"));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("model.ckpt-9.data-00000-of-00001"), "data"));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), dir_.File("slim-00007"));
  EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(dir_.path()), "\x01\xff"));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), dir_.File("slim-00007"));
  EST_ASSERT_OK(RemoveCheckpoint(dir_.File("slim-00007")));
  EXPECT_EQ(LatestCheckpoint(dir_.path(), &warnings_).value(), Prefix(3));
  EST_ASSERT_OK(WriteFileAtomically(Prefix(3), "rubbish"));
  EXPECT_THAT(LatestCheckpoint(dir_.path(), &warnings_), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(LatestCheckpointTest, WhereAllArePassedOverTheErrorHasEveryReason) {
  SaveSteps({5, 10});
  NewestCheckpoint newest(dir_.path());
  ASSERT_TRUE(newest.PassOver(Prefix(10), absl::DataLossError("ten is bad")));
  ASSERT_TRUE(newest.PassOver(Prefix(5), absl::DataLossError("five is bad")));
  const absl::Status status = newest.Find().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("ten is bad; five is bad")));
}

}  // namespace
}  // namespace estimator
