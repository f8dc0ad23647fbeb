#include "estimator/checkpoint/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/testing/v1_files.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Names = std::vector<std::string>;

std::map<std::string, Array> Variables(int64_t step) {
  return {{"global_step", Array::Scalar<int64_t>(step)},
          {"w", Array::Of<float>({2}, {static_cast<float>(step), 1})}};
}

int64_t StepIn(const std::string& prefix) {
  const auto reader = BundleReader::Open(prefix).value();
  EST_EXPECT_OK(reader->VerifyContents());
  return reader->Read("global_step")->scalar<int64_t>();
}

Names Indexes(const TempDir& dir) {
  Names names;
  const Names paths = Glob(dir.File("*.index")).value();
  for (const std::string& path : paths) names.emplace_back(Basename(path));
  return names;
}

MetaGraphSource MetaGraph(const std::string& bytes, int64_t version = 1) {
  return {.make = [bytes] { return bytes; }, .version = version};
}

TEST(Saver, D2StateFileListsRelativeNamesAndTheDirectoryCanMove) {
  const TempDir dir;
  Saver saver;
  const std::string model_dir = dir.File("model");
  ASSERT_EQ(saver.Save(model_dir, 0, Variables(0)).value(), model_dir + "/model.ckpt-0");
  EST_ASSERT_OK(saver.Save(model_dir, 5, Variables(5), {.input_state = "here"}));
  const std::string text = ReadFile(CheckpointStatePath(model_dir)).value();
  EXPECT_EQ(text.find("model_checkpoint_path: \"model.ckpt-5\"\n"
                      "all_model_checkpoint_paths: \"model.ckpt-0\"\n"
                      "all_model_checkpoint_paths: \"model.ckpt-5\"\n"),
            0u)
      << text;
  EST_ASSERT_OK(RenameFile(model_dir, dir.File("moved")));
  const auto latest = LatestCheckpoint(dir.File("moved")).value();
  EXPECT_EQ(StepIn(*latest), 5);
  EXPECT_EQ(ReadFile(*latest + ".input").value(), "here");
}

TEST(Saver, KeepsTheNewestAndDeletesAllThatAreOver) {
  const TempDir dir;
  {
    Saver all({.keep_checkpoint_max = 0});
    for (int step = 1; step <= 6; ++step)
      EST_ASSERT_OK(all.Save(dir.path(), step, Variables(step),
                             {.input_state = "i", .meta_graph = MetaGraph("m")}));
    EXPECT_EQ(all.checkpoints().size(), 6u);
  }
  EXPECT_EQ(GetCheckpointState(dir.path())->all_model_checkpoint_paths.size(), 6u);
  Saver saver({.keep_checkpoint_max = 2});  // a new run: the list comes from the state file
  EST_ASSERT_OK(saver.Save(dir.path(), 7, Variables(7)));
  EXPECT_EQ(*ListDirectory(dir.path()),
            (Names{"checkpoint", "model.ckpt-6.data-00000-of-00001", "model.ckpt-6.index",
                   "model.ckpt-6.input", "model.ckpt-6.meta", "model.ckpt-7.data-00000-of-00001",
                   "model.ckpt-7.index"}));
}

// They were dropped from the list: never deleted, and not in the state file any more.
TEST(Saver, CheckpointsOfTheV1FormatStayOnTheListUntilTheyAreOver) {
  const TempDir dir;
  const std::vector<V1Slice> variables = {{.name = "w", .value = Array::Scalar<float>(1)}};
  EST_ASSERT_OK(WriteV1File(dir.File("model.ckpt-1-00000-of-00001"), variables));
  EST_ASSERT_OK(WriteV1File(dir.File("model.ckpt-2"), variables));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("model.ckpt-2.meta"), "graph"));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("model.ckpt-1.meta"), "graph"));
  const Names old = {dir.File("model.ckpt-1-????"
                              "?-of-00001"),
                     dir.File("model.ckpt-2")};
  EST_ASSERT_OK(WriteCheckpointState(
      dir.path(), {.model_checkpoint_path = old[1], .all_model_checkpoint_paths = old}));
  Saver saver({.keep_checkpoint_max = 3});
  EST_ASSERT_OK(saver.Save(dir.path(), 3, Variables(3)));
  EXPECT_EQ(saver.checkpoints(), (Names{old[0], old[1], dir.File("model.ckpt-3")}));
  EST_ASSERT_OK(saver.Save(dir.path(), 4, Variables(4)));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-1-00000-of-00001")));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-1.meta")));
  EXPECT_TRUE(FileExists(dir.File("model.ckpt-2")));
  EST_ASSERT_OK(saver.Save(dir.path(), 5, Variables(5)));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-2")));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-2.meta")));
  EXPECT_EQ(Indexes(dir).size(), 3u);
}

TEST(Saver, TheSameStepTwiceIsOneCheckpoint) {
  const TempDir dir;
  Saver saver;
  EST_ASSERT_OK(saver.Save(dir.path(), 3, Variables(3)));
  EST_ASSERT_OK(saver.Save(dir.path(), 3, Variables(4)));
  EXPECT_EQ(saver.checkpoints().size(), 1u);
  EXPECT_EQ(StepIn(saver.checkpoints()[0]), 4);
}

TEST(Saver, KeepsOneEverySoManyHoursForGoodAlsoAcrossRestarts) {
  const TempDir dir;
  double now = 1e9;
  for (int step = 0; step < 10; ++step) {  // one every half hour, each by a new run
    Saver saver({.keep_checkpoint_max = 1,
                 .keep_checkpoint_every_n_hours = 1,
                 .basename = "model.ckpt",
                 .now_secs = [&] { return now; }});
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step)));
    now += 1800;
  }
  // Nothing is preserved before the first hour of a run is over: each run here is younger.
  EXPECT_EQ(Indexes(dir), Names{"model.ckpt-9.index"});
  Saver saver({.keep_checkpoint_max = 1,
               .keep_checkpoint_every_n_hours = 1,
               .basename = "model.ckpt",
               .now_secs = [&] { return now; }});
  for (int step = 10; step < 20; ++step) {
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step)));
    now += 1800;
  }
  EXPECT_EQ(Indexes(dir),
            (Names{"model.ckpt-13.index", "model.ckpt-16.index", "model.ckpt-19.index"}));
}

TEST(Saver, KilledAtAnyInstantALatestCheckpointIsWhole) {
  const MetaGraphSource graph = MetaGraph("graph");
  bool done = false;
  for (int n = 0; !done; ++n) {
    ASSERT_LT(n, 200);
    const TempDir dir;
    Saver before({.keep_checkpoint_max = 2});
    for (const int step : {10, 20}) {
      EST_ASSERT_OK(before.Save(dir.path(), step, Variables(step),
                                {.input_state = "old", .meta_graph = graph}));
    }
    {
      const ScopedFaultInjector faults(CrashAfter(n));
      Saver saver({.keep_checkpoint_max = 2});
      done = saver.Save(dir.path(), 30, Variables(30), {.input_state = "new", .meta_graph = graph})
                 .ok();
    }
    std::vector<std::string> warnings;
    const auto latest = LatestCheckpoint(dir.path(), &warnings);
    ASSERT_TRUE(latest.ok() && *latest) << n << latest.status();
    EXPECT_TRUE(warnings.empty()) << n << ": " << warnings[0];
    const int64_t step = StepIn(**latest);
    EXPECT_TRUE(step == 30 || (step == 20 && !done)) << n << ": " << step;
    const auto input = ReadInputFile(**latest);
    EST_ASSERT_OK(input);
    EXPECT_EQ(input->state, step == 30 ? "new" : "old");
    ASSERT_TRUE(input->meta_graph.has_value());
    EST_EXPECT_OK(CheckMetaGraphBytes(*ReadFile(**latest + ".meta"), *input->meta_graph));
    Saver after({.keep_checkpoint_max = 2});
    EST_ASSERT_OK(after.Save(dir.path(), 40, Variables(40)));
    const Names names = ListDirectory(dir.path()).value();
    for (const std::string& name : names) {
      EXPECT_NE(name[0], '.') << n;
      if (name == "checkpoint") continue;
      EXPECT_TRUE(FileExists(dir.File(name.substr(0, 13) + ".index"))) << n << ": " << name;
    }
    for (const std::string& name : Indexes(dir))
      EXPECT_EQ(StepIn(dir.File(name.substr(0, 13))) % 10, 0);
    EXPECT_GE(Indexes(dir).size(), 2u) << n;
  }
}

// After a power loss only what was synced is there. So the state file must not name a checkpoint
// without bytes, and an old checkpoint must not be gone before the new one is there.
TEST(Saver, EveryFileIsSyncedBeforeItsNameAndTheOldestCheckpointIsDeletedLast) {
  const TempDir dir;
  Saver saver({.keep_checkpoint_max = 1});
  const SaverExtras extras = {.input_state = "here", .meta_graph = MetaGraph("graph")};
  EST_ASSERT_OK(saver.Save(dir.path(), 1, Variables(1), extras));
  std::set<std::string> unsynced;  // files with bytes that may not be on the disk
  std::vector<std::string> named;  // in the order of their renames
  std::string last_name, deleted_after;
  bool folder_synced = true;
  {
    const ScopedFaultInjector watch([&](FileOperation operation, absl::string_view path) -> Fault {
      const std::string file(path);
      if (operation == FileOperation::kWrite) unsynced.insert(file);
      if (operation == FileOperation::kSync) unsynced.erase(file);
      if (operation == FileOperation::kSync && path == dir.path()) folder_synced = true;
      if (operation == FileOperation::kRename && !absl::StrContains(path, "ckpt-1")) {
        EXPECT_THAT(unsynced, ::testing::IsEmpty()) << "before the rename to " << path;
        last_name = std::string(Basename(path));
        named.push_back(last_name);
        folder_synced = false;
      }
      if ((operation == FileOperation::kRemove || operation == FileOperation::kRename) &&
          absl::StrContains(path, "model.ckpt-1") && deleted_after.empty()) {
        deleted_after = last_name;
        EXPECT_TRUE(folder_synced) << "before " << path << " is deleted";
      }
      return {};
    });
    EST_ASSERT_OK(saver.Save(dir.path(), 2, Variables(2), extras));
  }
  EXPECT_EQ(deleted_after, "checkpoint");
  ASSERT_FALSE(named.empty());
  EXPECT_EQ(named.back(), "checkpoint");
  // The index makes a checkpoint of the data.
  const auto place = [&](const std::string& name) {
    return std::find(named.begin(), named.end(), name) - named.begin();
  };
  EXPECT_LT(place("model.ckpt-2.data-00000-of-00001"), place("model.ckpt-2.index"));
  EXPECT_LT(place("model.ckpt-2.index"), place("checkpoint"));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-1.index")));
}

TEST(Saver, AStaleGraphOfASaveWithoutOneIsRemoved) {
  const TempDir dir;
  const SaverExtras extras{.meta_graph = MetaGraph("graph")};
  EST_ASSERT_OK(Saver().Save(dir.path(), 3, Variables(3), extras));
  EXPECT_TRUE(FileExists(dir.File("model.ckpt-3.meta")));
  const testing::CapturedLog log;
  EST_ASSERT_OK(Saver().Save(dir.path(), 3, Variables(3)));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-3.meta")));
  EXPECT_THAT(log.warnings, ::testing::IsEmpty());
}

TEST(Saver, TheSameGraphIsWrittenOnceAndADeletedFileOfItAgain) {
  const TempDir dir;
  Saver saver;
  const SaverExtras extras{.meta_graph = MetaGraph("graph")};
  const auto inode = [&](int step) {
    struct stat info = {};
    EXPECT_EQ(stat(dir.File(absl::StrCat("model.ckpt-", step, ".meta")).c_str(), &info), 0) << step;
    return info.st_ino;
  };
  for (const int step : {1, 2, 2, 3}) {
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step), extras));
  }
  EXPECT_EQ(inode(2), inode(3));
  EST_ASSERT_OK(RemoveFile(dir.File("model.ckpt-3.meta")));
  EST_ASSERT_OK(saver.Save(dir.path(), 4, Variables(4), extras));
  EXPECT_EQ(ReadFile(dir.File("model.ckpt-4.meta")).value(), "graph");
  const SaverExtras other{.meta_graph = MetaGraph("other", 2)};
  EST_ASSERT_OK(saver.Save(dir.path(), 5, Variables(5), other));
  EXPECT_EQ(ReadFile(dir.File("model.ckpt-4.meta")).value(), "graph");
  EXPECT_EQ(ReadFile(dir.File("model.ckpt-5.meta")).value(), "other");
}

TEST(Saver, WithoutLinksTheGraphIsCopiedAndChecked) {
  const TempDir dir;
  Saver saver;
  const SaverExtras extras{.meta_graph = MetaGraph("graph")};
  const auto save_without_link = [&](int step) {
    const std::string path = dir.File(absl::StrCat("model.ckpt-", step, ".meta"));
    bool failed = false;
    const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view of) -> Fault {
      if (operation != FileOperation::kRename || of != path || std::exchange(failed, true))
        return {};
      return {.status = absl::ErrnoToStatus(EPERM, "no links here")};
    });
    return saver.Save(dir.path(), step, Variables(step), extras).status();
  };
  EST_ASSERT_OK(saver.Save(dir.path(), 1, Variables(1), extras));
  EST_ASSERT_OK(save_without_link(2));
  EXPECT_EQ(ReadFile(dir.File("model.ckpt-2.meta")).value(), "graph");
  EST_ASSERT_OK(WriteFileAtomically(dir.File("model.ckpt-2.meta"), "grapf"));
  EXPECT_THAT(save_without_link(3), StatusIs(absl::StatusCode::kDataLoss));
  // The next save makes the graph anew.
  EST_ASSERT_OK(saver.Save(dir.path(), 4, Variables(4), extras));
  EXPECT_EQ(ReadFile(dir.File("model.ckpt-4.meta")).value(), "graph");
}

// Fixed bug: nothing noticed a flipped byte in a graph, whose format has no checksum.
TEST(Saver, TheFileOfTheInputHasTheChecksumOfTheGraphWrittenOrLinked) {
  const TempDir dir;
  Saver saver;
  const SaverExtras extras{.input_state = "here", .meta_graph = MetaGraph("graph")};
  for (const int step : {1, 2}) {
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step), extras));
    const std::string prefix = dir.File(absl::StrCat("model.ckpt-", step));
    const auto file = ReadInputFile(prefix);
    EST_ASSERT_OK(file);
    EXPECT_EQ(file->state, "here");
    ASSERT_TRUE(file->meta_graph.has_value());
    EST_EXPECT_OK(CheckMetaGraphBytes(*ReadFile(prefix + ".meta"), *file->meta_graph));
    EXPECT_THAT(CheckMetaGraphBytes("grapf", *file->meta_graph),
                StatusIs(absl::StatusCode::kDataLoss));
  }
  EST_ASSERT_OK(saver.Save(dir.path(), 3, Variables(3), {.input_state = "there"}));
  EXPECT_EQ(*ReadFile(dir.File("model.ckpt-3.input")), "there");
}

TEST(Saver, AStrangersStateFileDeletesNothing) {
  const TempDir dir;
  const std::string model_dir = dir.File("m");
  EST_ASSERT_OK(Saver().Save(model_dir, 4, Variables(4)));
  EST_ASSERT_OK(Saver().Save(dir.File("victim"), 3, Variables(3)));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("thesis.tex"), "thesis"));
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(model_dir, "notes-5.txt"), "notes"));
  const Names foreign = {dir.File("thesis.tex"),
                         dir.File("victim/model.ckpt-3"),
                         "../thesis.tex",
                         "../victim/model.ckpt-3",
                         "notes-5.txt",
                         "model.ckpt",
                         "other.ckpt-3",
                         "",
                         "..",
                         ".",
                         "model.ckpt-4.index",
                         "model.ckpt-*"};
  std::string text = "model_checkpoint_path: \"model.ckpt-4\"\n";
  for (const std::string& path : foreign)
    absl::StrAppend(&text, "all_model_checkpoint_paths: \"", path, "\"\n");
  absl::StrAppend(&text, "all_model_checkpoint_paths: \"model.ckpt-4\"\n");
  EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(model_dir), text));
  Saver saver({.keep_checkpoint_max = 1});
  EST_ASSERT_OK(saver.Save(model_dir, 8, Variables(8)));
  EXPECT_EQ(StepIn(dir.File("victim/model.ckpt-3")), 3);
  EXPECT_EQ(*ReadFile(dir.File("thesis.tex")), "thesis");
  EXPECT_EQ(*ListDirectory(model_dir), (Names{"checkpoint", "model.ckpt-8.data-00000-of-00001",
                                              "model.ckpt-8.index", "notes-5.txt"}));
}

TEST(Saver, ACopiedRunLeavesTheOriginalAlone) {
  const TempDir dir;
  const std::string original = dir.File("run1"), copy = dir.File("run2");
  Saver first;
  for (const int step : {4, 8}) {
    EST_ASSERT_OK(first.Save(original, step, Variables(step)));
    EST_ASSERT_OK(Saver().Save(copy, step, Variables(step)));
  }
  // As TensorFlow's default Saver writes it.
  const std::string text = absl::StrCat(
      "model_checkpoint_path: \"", original, "/model.ckpt-8\"\n", "all_model_checkpoint_paths: \"",
      original, "/model.ckpt-4\"\nall_model_checkpoint_paths: \"", original, "/model.ckpt-8\"\n");
  EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(copy), text));
  EXPECT_EQ(GetCheckpointState(copy)->copied_from, original);
  EXPECT_EQ(LatestCheckpoint(copy).value(), JoinPath(copy, "model.ckpt-8"));
  const Names before = *ListDirectory(original);
  Saver second({.keep_checkpoint_max = 1});
  EST_ASSERT_OK(second.Save(copy, 12, Variables(12)));
  EXPECT_EQ(*ListDirectory(original), before);
  EXPECT_EQ(*ListDirectory(copy),
            (Names{"checkpoint", "model.ckpt-12.data-00000-of-00001", "model.ckpt-12.index"}));
}

TEST(Saver, AbsolutePathsOfTheDirectoryItselfCount) {
  const TempDir dir;
  EST_ASSERT_OK(Saver().Save(dir.path(), 4, Variables(4)));
  const std::string path = dir.File("model.ckpt-4");
  EST_ASSERT_OK(
      WriteFileAtomically(CheckpointStatePath(dir.path()),
                          absl::StrCat("model_checkpoint_path: \"", path,
                                       "\"\nall_model_checkpoint_paths: \"", path, "\"\n")));
  EXPECT_EQ(GetCheckpointState(dir.path())->copied_from, "");
  Saver saver({.keep_checkpoint_max = 1});
  EST_ASSERT_OK(saver.Save(dir.path(), 8, Variables(8)));
  EXPECT_EQ(Indexes(dir), Names{"model.ckpt-8.index"});
}

TEST(Saver, DataWithoutAnIndexStays) {
  const TempDir dir;
  EST_ASSERT_OK(Saver().Save(dir.path(), 8, Variables(8), {.input_state = "i"}));
  const std::string data = "model.ckpt-8.data-00000-of-00001";
  EST_ASSERT_OK(RenameFile(dir.File("model.ckpt-8.index"), dir.File("moved")));
  EST_ASSERT_OK(Saver().Save(dir.path(), 4, Variables(4)));
  EXPECT_TRUE(FileExists(dir.File(data)));
  EXPECT_TRUE(FileExists(dir.File("model.ckpt-8.input")));
  EST_ASSERT_OK(RenameFile(dir.File("moved"), dir.File("model.ckpt-8.index")));
  EXPECT_EQ(StepIn(dir.File("model.ckpt-8")), 8);
}

TEST(Saver, AnUnknownAnswerOfTheFileSystemDeletesNothing) {
  const TempDir dir;
  {
    Saver saver;
    for (const int step : {4, 8}) EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step)));
  }
  for (int failing = 0;; ++failing) {
    int asked = 0;
    {
      ScopedFaultInjector faults([&](FileOperation operation, absl::string_view path) -> Fault {
        if (operation != FileOperation::kStat || asked++ != failing) return {};
        return {.status = absl::ErrnoToStatus(EIO, absl::StrCat("cannot find ", path))};
      });
      Saver saver;
      saver.Save(dir.path(), 12, Variables(12)).status().IgnoreError();
    }
    for (const int step : {4, 8})
      EXPECT_EQ(StepIn(dir.File(absl::StrCat("model.ckpt-", step))), step) << failing;
    if (failing >= asked) break;
  }
}

// Fixed bug: every later save failed, and the steps were lost.
TEST(Saver, AFileThatCannotBeRemovedStopsNoSave) {
  const TempDir dir;
  Saver saver({.keep_checkpoint_max = 1});
  EST_ASSERT_OK(saver.Save(dir.path(), 4, Variables(4)));
  EST_ASSERT_OK(CreateDirectories(dir.File("model.ckpt-4.meta/keep")));
  for (const int step : {8, 12, 16}) {
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step)));
    EXPECT_EQ(StepIn(dir.File(absl::StrCat("model.ckpt-", step))), step);
  }
  EXPECT_TRUE(FileExists(dir.File("model.ckpt-4.meta/keep")));
  EXPECT_FALSE(FileExists(dir.File("model.ckpt-4.data-00000-of-00001")));
}

TEST(Saver, FilesOfACheckpointAreNotWrittenThroughLinks) {
  for (const char* const name : {"checkpoint", "model.ckpt-8.meta", "model.ckpt-8.input",
                                 "model.ckpt-8.index", "model.ckpt-8.data-00000-of-00001"}) {
    const TempDir dir;
    EST_ASSERT_OK(Saver().Save(dir.File("m"), 4, Variables(4)));
    EST_ASSERT_OK(WriteFileAtomically(dir.File("precious"), "precious"));
    const std::string link = JoinPath(dir.File("m"), name);
    RemoveFile(link).IgnoreError();  // only one of the names exists
    ASSERT_EQ(::symlink(dir.File("precious").c_str(), link.c_str()), 0);
    Saver saver;
    const auto saved = saver.Save(dir.File("m"), 8, Variables(8),
                                  {.input_state = "i", .meta_graph = MetaGraph("m")});
    EST_EXPECT_OK(saved.status());
    EXPECT_EQ(*ReadFile(dir.File("precious")), "precious") << name;
    EXPECT_EQ(StepIn(dir.File("m/model.ckpt-8")), 8) << name;
  }
}

TEST(Saver, ALimitOfMoreThan32BitsIsNotCut) {
  const TempDir dir;
  Saver saver({.keep_checkpoint_max = (int64_t{1} << 32) + 1});
  for (int step = 1; step <= 3; ++step)
    EST_ASSERT_OK(saver.Save(dir.path(), step, Variables(step)));
  EXPECT_EQ(saver.checkpoints().size(), 3u);
}

TEST(Saver, WrongOptionsAreRefused) {
  const TempDir dir;
  EXPECT_THAT(Saver({.keep_checkpoint_max = -1}).Save(dir.path(), 0, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("keep_checkpoint_max must be >= 0, is -1"),
                             Not(HasSubstr("every_n_hours")))));
  EXPECT_THAT(Saver({.keep_checkpoint_every_n_hours = 0}).Save(dir.path(), 0, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("keep_checkpoint_every_n_hours must be > 0, is 0"),
                             Not(HasSubstr("keep_checkpoint_max")))));
  EXPECT_THAT(Saver().Save(dir.path(), -1, {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
