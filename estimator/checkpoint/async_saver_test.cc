#include "estimator/checkpoint/async_saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
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

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

AsyncSaver::Variables Variables(float w) {
  return {{"names", Array::Strings({absl::StrCat(w)})}, {"w", Array::Of<float>({2}, {w, 1})}};
}

float SavedW(const std::string& prefix) {
  const auto reader = BundleReader::Open(prefix).value();
  EST_EXPECT_OK(reader->VerifyContents());
  return static_cast<float>(reader->Read("w")->AsDouble());
}

// Stops the writer at its first write, until the test opens the gate. Until then the test's thread
// must not use files.
class Gate {
 public:
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void Close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = false;
  }
  FaultHook Hook() {
    return [this](FileOperation operation, absl::string_view) -> Fault {
      std::unique_lock<std::mutex> lock(mutex_);
      if (operation == FileOperation::kWrite) opened_.wait(lock, [this] { return open_; });
      return {};
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;  // guarded by mutex_
};

TEST(AsyncSaver, CopiesAValueOfOneByte) {
  const TempDir dir;
  AsyncSaver saver;
  // The second save has the memory of the first one, which Finish would free.
  std::vector<std::string> prefixes;
  for (const bool yes : {false, true}) {
    const auto prefix = saver.SaveInBackground(dir.path(), 5 + yes, {{"yes", Array::Scalar(yes)}});
    EST_ASSERT_OK(prefix);
    prefixes.push_back(*prefix);
  }
  EST_ASSERT_OK(saver.Finish());
  for (const bool yes : {false, true})
    EXPECT_EQ(BundleReader::Open(prefixes[yes]).value()->Read("yes")->scalar<bool>(), yes);
}

TEST(AsyncSaver, ReturnsBeforeTheFileIsWrittenAndSavesTheValuesOfTheCall) {
  const TempDir dir;
  Gate gate;
  const ScopedFaultInjector faults(gate.Hook());
  AsyncSaver saver;
  AsyncSaver::Variables variables = Variables(1);
  const auto prefix = saver.SaveInBackground(dir.path(), 5, variables);
  EST_ASSERT_OK(prefix);
  EXPECT_EQ(*prefix, dir.File("model.ckpt-5"));
  EXPECT_FALSE(FileExists(*prefix + ".index"));
  EST_EXPECT_OK(saver.Poll());
  variables["w"].data<float>()[0] = 7;  // the next step
  variables["names"].data<std::string>()[0] = "later";
  gate.Open();
  EST_ASSERT_OK(saver.Finish());
  EXPECT_EQ(SavedW(*prefix), 1);
  EXPECT_EQ(BundleReader::Open(*prefix).value()->Read("names")->scalar<std::string>(), "1");
}

TEST(AsyncSaver, ReusesItsCopyForTheNextSaveOfOtherValuesAndVariables) {
  const TempDir dir;
  AsyncSaver saver;
  AsyncSaver::Variables variables = Variables(1);
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, variables));
  variables = Variables(2);
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 2, variables));
  EST_ASSERT_OK(saver.Finish());
  EXPECT_EQ(SavedW(dir.File("model.ckpt-1")), 1);
  EXPECT_EQ(SavedW(dir.File("model.ckpt-2")), 2);
  variables["w"] = Array::Of<float>({1}, {3});
  variables.erase("names");
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 3, variables));
  EST_ASSERT_OK(saver.Finish());
  EXPECT_EQ(SavedW(dir.File("model.ckpt-3")), 3);
  EXPECT_THAT(BundleReader::Open(dir.File("model.ckpt-3")).value()->names(), ElementsAre("w"));
}

// On this clock every wait is long. The wait begins when the test's thread reads the clock.
TEST(AsyncSaver, ASecondSaveWaitsForTheFirstAndALongWaitIsLoggedOnce) {
  const TempDir dir;
  const testing::CapturedLog log;
  Gate gate;
  std::atomic<int> now = 1'000'000'000;
  AsyncSaver saver({.now_secs = [&, here = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == here) gate.Open();
    return static_cast<double>(now += 5);
  }});
  const ScopedFaultInjector faults(gate.Hook());
  for (const int step : {1, 3}) {
    EST_ASSERT_OK(saver.SaveInBackground(dir.path(), step, Variables(1)));
    EXPECT_FALSE(FileExists(dir.File(absl::StrCat("model.ckpt-", step, ".index"))));
    EST_ASSERT_OK(saver.SaveInBackground(dir.path(), step + 1, Variables(2)));
    EXPECT_TRUE(FileExists(dir.File(absl::StrCat("model.ckpt-", step, ".index"))));
    EST_ASSERT_OK(saver.Finish());
    gate.Close();
  }
  EXPECT_EQ(SavedW(dir.File("model.ckpt-4")), 2);
  std::vector<std::string> waits;
  for (const std::string& line : log.infos) {
    if (absl::StrContains(line, "Training waited")) waits.push_back(line);
  }
  EXPECT_THAT(waits, ElementsAre(AllOf(HasSubstr("to save " + dir.File("model.ckpt-2, because")),
                                       HasSubstr("model.ckpt-1 was still being written"),
                                       HasSubstr("raise save_checkpoints_steps"))));
}

TEST(AsyncSaver, WithoutMemoryForTheCopyItSavesBeforeItReturnsAndSaysSoOnce) {
  const TempDir dir;
  const testing::CapturedLog log;
  int64_t available = 8;
  AsyncSaver saver(
      {}, [&] { return AvailableMemory{.bytes = available, .bound = "the machine's 1.0 KiB"}; });
  for (const int step : {1, 2}) {
    const auto prefix =
        saver.SaveInBackground(dir.path(), step, Variables(static_cast<float>(step)));
    EST_ASSERT_OK(prefix);
    EXPECT_EQ(SavedW(*prefix), step);
  }
  EXPECT_THAT(log.warnings,
              ElementsAre(AllOf(HasSubstr("a copy of the variables needs 8 B, and 8 B"),
                                HasSubstr("of the machine's 1.0 KiB"))));
  available = 1 << 20;  // it is tried again at each save
  Gate gate;
  const ScopedFaultInjector faults(gate.Hook());
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 3, Variables(3)));
  gate.Open();
  EST_ASSERT_OK(saver.Finish());
}

// Four fifths of the available memory may be taken: 8 of 10 bytes, not of 9.
TEST(AsyncSaver, TheCopyTakesFourFifthsOfTheMemoryAndFinishFreesIt) {
  const TempDir dir;
  int asked = 0;
  int64_t available = 10;
  AsyncSaver saver({}, [&] {
    ++asked;
    return AvailableMemory{.bytes = available, .bound = "the machine"};
  });
  const testing::CapturedLog log;
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(1)));
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 2, Variables(2)));  // into the same copy
  EXPECT_EQ(asked, 1);
  EST_ASSERT_OK(saver.Finish());
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 3, Variables(3)));  // into a new one
  EXPECT_EQ(asked, 2);
  EST_ASSERT_OK(saver.Finish());
  EXPECT_THAT(log.warnings, ::testing::IsEmpty());
  available = 9;
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 4, Variables(4)));
  EXPECT_EQ(SavedW(dir.File("model.ckpt-4")), 4);  // it is there before Finish
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("needs 8 B, and 9 B")));
}

// The thread that writes the first checkpoint yields. A save that does not wait for it would
// overtake it.
TEST(AsyncSaver, ASaveInTheForegroundBeginsAfterTheOneInTheBackground) {
  const TempDir dir;
  std::string writes;  // the steps of the checkpoints that are written
  const ScopedFaultInjector record([&](FileOperation operation, absl::string_view path) -> Fault {
    for (const char* step : {"1", "2"}) {
      if (operation == FileOperation::kWrite &&
          absl::StrContains(path, absl::StrCat("model.ckpt-", step)))
        writes += step;
    }
    return {};
  });
  AsyncSaver saver({.now_secs = [here = std::this_thread::get_id()] {
    for (int i = 0; i < 10000 && std::this_thread::get_id() != here; ++i) std::this_thread::yield();
    return 1e9;
  }});
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(1)));
  EST_ASSERT_OK(saver.Save(dir.path(), 2, Variables(2)));
  EST_EXPECT_OK(saver.Poll());
  EXPECT_THAT(writes, ::testing::MatchesRegex("1+2+"));
  EXPECT_EQ(**LatestCheckpoint(dir.path()), dir.File("model.ckpt-2"));
}

TEST(AsyncSaver, AShortWaitIsNotLogged) {
  const TempDir dir;
  const testing::CapturedLog log;
  Gate gate;
  std::atomic<int> tenths = 0;
  AsyncSaver saver({.now_secs = [&, here = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == here) gate.Open();
    return 1e9 + 0.9 * (tenths++ % 2);
  }});
  const ScopedFaultInjector faults(gate.Hook());
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(1)));
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 2, Variables(2)));
  EST_ASSERT_OK(saver.Finish());
  for (const std::string& line : log.infos)
    EXPECT_THAT(line, ::testing::Not(HasSubstr("Training waited")));
}

TEST(AsyncSaver, AnErrorOfTheBackgroundIsReturnedOnceByTheNextCallOfAnyKind) {
  for (const std::string next : {"poll", "finish", "save", "background"}) {
    const TempDir dir;
    AsyncSaver saver;
    {
      const ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
        if (operation != FileOperation::kSync) return {};
        return {.status = absl::ResourceExhaustedError("disk full"),
                .truncate_after_bytes = std::nullopt};
      });
      EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(1)));
      saver.Wait();
    }
    absl::Status status;
    if (next == "poll") status = saver.Poll();
    if (next == "finish") status = saver.Finish();
    if (next == "save") status = saver.Save(dir.path(), 2, Variables(2)).status();
    if (next == "background") status = saver.SaveInBackground(dir.path(), 2, Variables(2)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr("cannot save " + dir.File("model.ckpt-1"))))
        << next;
    EST_EXPECT_OK(saver.Poll());
    EXPECT_FALSE(FileExists(dir.File("model.ckpt-2.index")));
    EST_EXPECT_OK(saver.Save(dir.path(), 3, Variables(3)));
  }
}

TEST(AsyncSaver, CommittedIsCalledWhenTheStateFileNamesTheCheckpoint) {
  const TempDir dir;
  AsyncSaver saver;
  std::vector<std::string> seen;
  const auto committed = [&](const std::string& prefix, const AsyncSaver::Variables& variables) {
    EXPECT_EQ(**LatestCheckpoint(dir.path()), prefix);
    seen.push_back(absl::StrCat(Basename(prefix), " ", variables.at("w").AsDouble()));
    return absl::Status();
  };
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(4), {}, committed));
  EST_ASSERT_OK(saver.Finish());
  EST_ASSERT_OK(saver.Save(dir.path(), 2, Variables(5), {}, committed));
  EXPECT_THAT(seen, ElementsAre("model.ckpt-1 4", "model.ckpt-2 5"));
  EST_ASSERT_OK(saver.SaveInBackground(
      dir.path(), 3, Variables(6), {},
      [](const std::string&, const auto&) { return absl::InternalError("no event"); }));
  EXPECT_THAT(saver.Finish(), ErrorIs("no event"));
}

// The graph belongs to the caller's thread.
TEST(AsyncSaver, TheGraphIsMadeBeforeTheCallReturnsAndOnlyIfItIsNew) {
  const TempDir dir;
  AsyncSaver saver;
  const std::thread::id here = std::this_thread::get_id();
  int num_made = 0;
  const auto extras = [&](int64_t version) {
    return SaverExtras{.input_state = "i",
                       .meta_graph = {.make =
                                          [&, version] {
                                            EXPECT_EQ(std::this_thread::get_id(), here);
                                            ++num_made;
                                            return absl::StrCat("graph ", version);
                                          },
                                      .version = version}};
  };
  for (const int step : {1, 2, 3}) {
    EST_ASSERT_OK(saver.SaveInBackground(dir.path(), step, Variables(1), extras(1)));
  }
  EST_ASSERT_OK(saver.Finish());
  EXPECT_EQ(num_made, 1);
  EST_ASSERT_OK(RemoveFile(dir.File("model.ckpt-3.meta")));
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 4, Variables(1), extras(1)));
  EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 5, Variables(1), extras(2)));
  EST_ASSERT_OK(saver.Finish());
  EXPECT_EQ(num_made, 3);
  for (const int step : {1, 2, 4}) {
    EXPECT_EQ(*ReadFile(dir.File(absl::StrCat("model.ckpt-", step, ".meta"))), "graph 1");
  }
  EXPECT_EQ(*ReadFile(dir.File("model.ckpt-5.meta")), "graph 2");
}

TEST(AsyncSaver, ADestructorWaitsForTheSave) {
  const TempDir dir;
  {
    AsyncSaver saver;
    EST_ASSERT_OK(saver.SaveInBackground(dir.path(), 1, Variables(1)));
  }
  EXPECT_EQ(SavedW(dir.File("model.ckpt-1")), 1);
}

}  // namespace
}  // namespace estimator
