#include "estimator/training/model/start_checkpoint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

// A model_dir with checkpoints of the steps 5 and 10.
class StartCheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Saver saver;
    for (const int step : {5, 10}) {
      ASSERT_TRUE(saver.Save(dir_.path(), step, {{"w", Array::Of<float>({2}, {1, 2})}}).ok());
    }
  }
  std::string Prefix(int step) { return dir_.File(absl::StrCat("model.ckpt-", step)); }
  // Starts from the choice. Reading checkpoint 10 gives `of_ten`, any other is fine.
  absl::StatusOr<std::string> StartWith(const absl::Status& of_ten,
                                        const std::optional<std::string>& path = std::nullopt) {
    auto choice = start_.Choose(path);
    if (!choice.ok()) return choice.status();
    return start_.Start(*choice, [&](CheckpointAttempt& attempt) {
      tried_.push_back(attempt.prefix());
      return attempt.Reading(attempt.prefix() == Prefix(10) ? of_ten : absl::OkStatus());
    });
  }

  const TempDir dir_;
  StartCheckpoint start_{dir_.path()};
  std::vector<std::string> tried_;
};

TEST_F(StartCheckpointTest, FallsBackToTheCheckpointBeforeADamagedOneAndRemembersIt) {
  EXPECT_EQ(StartWith(absl::OkStatus()).value(), Prefix(10));
  EXPECT_FALSE(start_.fell_back());
  EXPECT_EQ(StartWith(absl::DataLossError("crc32c")).value(), Prefix(5));
  EXPECT_TRUE(start_.fell_back());
  EXPECT_EQ(StartWith(absl::OkStatus()).value(), Prefix(5));
  EXPECT_EQ(tried_, (std::vector<std::string>{Prefix(10), Prefix(10), Prefix(5), Prefix(5)}));
}

TEST_F(StartCheckpointTest, AnotherErrorOfACheckpointIsReturned) {
  const absl::Status missing = absl::NotFoundError("no variable");
  EXPECT_EQ(StartWith(missing).status(), missing);
  EXPECT_EQ(tried_.size(), 1u);
}

// Fixed bug: an evaluation beside a run that keeps one checkpoint failed with NOT_FOUND.
TEST_F(StartCheckpointTest, ACheckpointThatARunDeletesMeanwhileIsReplacedByTheNewest) {
  Saver saver({.keep_checkpoint_max = 1});
  const auto started = start_.Start(start_.Choose().value(), [&](CheckpointAttempt& attempt) {
    tried_.push_back(attempt.prefix());
    if (attempt.prefix() == Prefix(10)) {
      EXPECT_TRUE(saver.Save(dir_.path(), 15, {{"w", Array::Of<float>({2}, {1, 2})}}).ok());
    }
    return attempt.Reading(CheckCheckpoint(attempt.prefix()));
  });
  EXPECT_EQ(started.value(), Prefix(15));
  EXPECT_EQ(tried_, (std::vector<std::string>{Prefix(10), Prefix(15)}));
}

TEST_F(StartCheckpointTest, WhereAllCheckpointsAreDeletedNothingStartsFromFirstValues) {
  const auto started = start_.Start(start_.Choose().value(), [&](CheckpointAttempt& attempt) {
    tried_.push_back(attempt.prefix());
    for (const int step : {5, 10}) EXPECT_TRUE(RemoveCheckpoint(Prefix(step)).ok());
    return attempt.Reading(CheckCheckpoint(attempt.prefix()));
  });
  EXPECT_TRUE(absl::IsNotFound(started.status())) << started.status();
  EXPECT_EQ(tried_.size(), 1u);
}

TEST_F(StartCheckpointTest, DamageElsewhereIsReturned) {
  const absl::Status of_input = absl::DataLossError("record 3 is damaged");
  const auto started =
      start_.Start(start_.Choose().value(), [&](CheckpointAttempt&) { return of_input; });
  EXPECT_EQ(started.status(), of_input);
  EXPECT_EQ(start_.Choose()->prefix, Prefix(10));
}

TEST_F(StartCheckpointTest, ACheckpointThatTheCallerGaveIsNotReplaced) {
  const absl::Status damaged = absl::DataLossError("crc32c");
  EXPECT_EQ(StartWith(damaged, Prefix(10)).status(), damaged);
  EXPECT_EQ(StartWith(damaged, Prefix(5)).value(), Prefix(5));
}

TEST_F(StartCheckpointTest, WithoutACheckpointThePrefixIsEmpty) {
  StartCheckpoint none(dir_.File("none"));
  EXPECT_EQ(none.Choose()->prefix, "");
  EXPECT_EQ(none.Start(none.Choose().value(), [](CheckpointAttempt&) { return absl::OkStatus(); })
                .value(),
            "");
}

}  // namespace
}  // namespace estimator
