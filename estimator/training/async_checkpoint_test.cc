// Training continues while another thread writes a checkpoint. Who needs the checkpoint waits, and
// no error of writing it is lost.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Endless(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(6);
}
Dataset Once(const TinyParams&) { return TinyDataset(8); }

// Calls a function after each run with the step.
class AfterEachRun : public SessionRunHook {
 public:
  using Function = std::function<absl::Status(Session& session, int64_t step)>;
  explicit AfterEachRun(Function function) : function_(std::move(function)) {}
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    return function_(context.session(), values.global_step);
  }

 private:
  const Function function_;
};

Hooks After(AfterEachRun::Function function) {
  return {std::make_shared<AfterEachRun>(std::move(function))};
}

// Holds the first write to the values of step 5 until it is opened. Meanwhile no other thread can
// use files. A test that fails opens it by the time limit.
class Gate {
 public:
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  FaultHook Hook() {
    return [this](FileOperation operation, absl::string_view path) -> Fault {
      if (operation != FileOperation::kWrite || !absl::StrContains(path, "model.ckpt-5.tmp")) {
        return {};
      }
      std::unique_lock<std::mutex> lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::seconds(60), [this] { return open_; })) {
        return {.status = absl::DeadlineExceededError("training waits for the checkpoint")};
      }
      return {};
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;  // guarded by mutex_
};

Fault FullDisk(FileOperation operation, absl::string_view path) {
  if (operation != FileOperation::kWrite || !absl::StrContains(path, "model.ckpt-5")) return {};
  return {.status = absl::ResourceExhaustedError(
              absl::StrCat("cannot write ", path, ": No space left on device")),
          .truncate_after_bytes = 3};
}

class AsyncCheckpointTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options(const std::string& name = "model") const {
    return TinyOptions(dir_.File(name));  // saves every 5 steps
  }
  std::string Prefix(int64_t step, const std::string& name = "model") const {
    return dir_.File(absl::StrCat(name, "/model.ckpt-", step));
  }

  const TempDir dir_;
};

TEST_F(AsyncCheckpointTest, StepsRunWhileACheckpointIsWritten) {
  Gate gate;
  const ScopedFaultInjector faults(gate.Hook());
  Estimator<TinyParams> estimator(Options());
  std::vector<int64_t> before_the_file;
  const auto watch = [&](Session&, int64_t step) {
    // Step 9 may be faster than the writer.
    if (step <= 8 && !FileExists(Prefix(5) + ".index")) before_the_file.push_back(step);
    if (step == 8) gate.Open();
    return absl::OkStatus();
  };
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(9), {.hooks = After(watch)}));
  EXPECT_THAT(before_the_file, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EST_EXPECT_OK(CheckpointBits(Prefix(5)));
}

TEST_F(AsyncCheckpointTest, WritesTheBitsThatWaitingWrites) {
  auto waiting_options = Options("waiting");
  waiting_options.config.async_checkpoint = false;
  waiting_options.config.save_checkpoints_steps = 1;
  auto async_options = Options("async");
  async_options.config.save_checkpoints_steps = 1;
  Estimator<TinyParams> waiting(waiting_options), async(async_options);
  EST_ASSERT_OK(waiting.Train(Endless, MaxSteps(5),
                              {.hooks = After([&](Session&, int64_t step) {
                                 EXPECT_TRUE(FileExists(Prefix(step, "waiting") + ".index"));
                                 return absl::OkStatus();
                               })}));
  EST_ASSERT_OK(async.Train(Endless, MaxSteps(5)));
  for (int step = 1; step <= 5; ++step) {
    const auto bits = CheckpointBits(Prefix(step, "async"));
    EST_ASSERT_OK(bits);
    EXPECT_EQ(*bits, *CheckpointBits(Prefix(step, "waiting")));
    EXPECT_EQ(*ReadFile(Prefix(step, "async") + ".input"),
              *ReadFile(Prefix(step, "waiting") + ".input"));
  }
}

TEST_F(AsyncCheckpointTest, AnErrorOfWritingEndsTrainingAndTheNextCallContinues) {
  for (const bool async : {true, false}) {
    const std::string name = async ? "async" : "waiting";
    auto options = Options(name);
    options.config.async_checkpoint = async;
    Estimator<TinyParams> estimator(options);
    const auto recorder = std::make_shared<RunRecorder>();
    {
      const ScopedFaultInjector faults(FullDisk);
      EXPECT_THAT(
          estimator.Train(Endless, MaxSteps(1000), {.hooks = {recorder}}),
          StatusIs(absl::StatusCode::kResourceExhausted,
                   AllOf(HasSubstr(absl::StrCat("cannot save ", Prefix(5, name))),
                         HasSubstr("No space left on device"), HasSubstr("free space on the disk"),
                         HasSubstr("the next start continues from " + Prefix(0, name)))));
    }
    EXPECT_LE(recorder->steps.back(), 10) << "the next save is the latest time";
    EXPECT_EQ(recorder->num_ends, 0) << "no clean stop";
    EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(12)));
    Estimator<TinyParams> whole(Options(name + "_whole"));
    EST_ASSERT_OK(whole.Train(Endless, MaxSteps(12)));
    EXPECT_EQ(*CheckpointBits(Prefix(12, name)), *CheckpointBits(Prefix(12, name + "_whole")));
  }
}

// The last save that is due is at step 5, and training ends there.
TEST_F(AsyncCheckpointTest, AnErrorAtTheEndOfTrainingIsReturned) {
  const ScopedFaultInjector faults(FullDisk);
  Estimator<TinyParams> estimator(Options());
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(5)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(Prefix(5))));
}

TEST_F(AsyncCheckpointTest, ACheckpointInProgressIsWholeWhenTrainingEndsWithAnError) {
  Estimator<TinyParams> estimator(Options());
  const auto fails = [](Session&, int64_t step) {
    return step == 5 ? absl::InternalError("the hook failed") : absl::OkStatus();
  };
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(9), {.hooks = After(fails)}),
              ErrorHas("the hook failed"));
  EXPECT_EQ(**estimator.LatestCheckpoint(), Prefix(5));
  EST_EXPECT_OK(CheckpointBits(Prefix(5)));
}

TEST_F(AsyncCheckpointTest, ReadersOfTheModelDirInAHookSeeTheCheckpointOfTheSameRun) {
  Estimator<TinyParams> estimator(Options());
  int num_checks = 0;
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(10),
                                {.hooks = After([&](Session&, int64_t step) {
                                   if (step % 5 != 0) return absl::OkStatus();
                                   ++num_checks;
                                   const auto evaluated = estimator.Evaluate(Once);
                                   EXPECT_TRUE(evaluated.ok()) << evaluated.status();
                                   EXPECT_EQ(evaluated->global_step(), step);
                                   EXPECT_EQ(**estimator.LatestCheckpoint(), Prefix(step));
                                   EXPECT_EQ(estimator.GetVariableValue("global_step")->AsDouble(),
                                             static_cast<double>(step));
                                   return absl::OkStatus();
                                 })}));
  EXPECT_EQ(num_checks, 2);
}

class Listener : public CheckpointSaverListener {
 public:
  explicit Listener(bool awaits) : awaits_(awaits) {}
  bool AwaitsCheckpoint() const override { return awaits_; }
  absl::StatusOr<bool> AfterSave(Session& session, int64_t step) override {
    if (!awaits_) {
      const absl::Status written = session.FinishCheckpoint();
      if (!written.ok()) return written;
    }
    const std::string prefix = JoinPath(session.model_dir(), absl::StrCat("model.ckpt-", step));
    if (CheckpointBits(prefix).ok()) seen.push_back(step);
    return false;
  }
  std::vector<int64_t> seen;

 private:
  const bool awaits_;
};

TEST_F(AsyncCheckpointTest, AListenerSeesTheFilesIfItAwaitsThemOrFinishesTheCheckpoint) {
  for (const bool awaits : {true, false}) {
    const std::string name = absl::StrCat("awaits", awaits);
    Estimator<TinyParams> estimator(Options(name));
    const auto listener = std::make_shared<Listener>(awaits);
    EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(12), {.saving_listeners = {listener}}));
    EXPECT_THAT(listener->seen, ElementsAre(0, 5, 10, 12));
  }
}

TEST_F(AsyncCheckpointTest, AHookThatSavesItselfHasTheFileWhenItContinues) {
  auto options = Options();
  options.config.save_checkpoints_steps = 2;
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(
      estimator.Train(Endless, MaxSteps(4), {.hooks = After([&](Session& session, int64_t step) {
                                               const auto saved = session.SaveCheckpoint();
                                               EXPECT_TRUE(saved.ok()) << saved.status();
                                               EXPECT_EQ(*saved, Prefix(step));
                                               return CheckpointBits(*saved).status();
                                             })}));
}

}  // namespace
}  // namespace estimator
