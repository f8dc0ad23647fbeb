#include "estimator/checkpoint/checkpoints_iterator.h"

#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

class CheckpointsIteratorTest : public ::testing::Test {
 protected:
  CheckpointsIteratorOptions Options() {
    return {.now_secs = [this] { return now_; },
            .sleep =
                [this](double seconds) {
                  now_ += seconds;
                  // The training run beside us saves at its times.
                  if (now_ >= next_save_) {
                    ++step_;
                    next_save_ += 10;
                    EST_ASSERT_OK(saver_.Save(dir_.path(), step_, {}));
                  }
                }};
  }
  std::string Prefix(int step) { return dir_.File(absl::StrCat("model.ckpt-", step)); }

  const TempDir dir_;
  Saver saver_;
  double now_ = 0;
  double next_save_ = 10;
  int step_ = 0;
};

TEST_F(CheckpointsIteratorTest, ReturnsEachNewCheckpointOnce) {
  CheckpointsIterator iterator(dir_.path(), Options());
  EXPECT_EQ(iterator.Next(), Prefix(1));
  EXPECT_EQ(now_, 10);
  EXPECT_EQ(iterator.Next(), Prefix(2));
  EXPECT_EQ(now_, 20);
}

TEST_F(CheckpointsIteratorTest, EndsAtTheTimeout) {
  CheckpointsIteratorOptions options = Options();
  options.timeout_secs = 5;
  EXPECT_EQ(CheckpointsIterator(dir_.path(), options).Next(), std::nullopt);
  EXPECT_EQ(now_, 5);
}

// Fixed bug: a wait was silent, so that a program seemed to hang.
TEST_F(CheckpointsIteratorTest, LogsOncePerWaitWhatItWaitsForAndForHowLong) {
  const testing::CapturedLog log;
  CheckpointsIteratorOptions options = Options();
  CheckpointsIterator(dir_.path(), options).Next();
  ASSERT_EQ(log.infos.size(), 1u);
  EXPECT_EQ(log.infos[0],
            absl::StrCat("Waiting for new checkpoint at ", dir_.path(), ", without a time limit"));
  options.timeout_secs = 5;
  CheckpointsIterator iterator(dir_.path(), options);
  EXPECT_EQ(iterator.Next(), Prefix(1));
  EXPECT_EQ(log.infos.size(), 1u) << "nothing to wait for";
  EXPECT_EQ(iterator.Next(), std::nullopt);
  ASSERT_EQ(log.infos.size(), 3u);
  EXPECT_EQ(log.infos[1],
            absl::StrCat("Waiting for new checkpoint at ", dir_.path(), ", for at most 5 s"));
  EXPECT_EQ(log.infos[2], absl::StrCat("Timed-out waiting for a checkpoint: no new one at ",
                                       dir_.path(), " within 5 s"));
}

TEST_F(CheckpointsIteratorTest, EndsAfterTheNewestIfNoneWillCome) {
  CheckpointsIteratorOptions options = Options();
  options.has_ended = [this] { return step_ == 2; };
  CheckpointsIterator iterator(dir_.path(), options);
  EXPECT_EQ(iterator.Next(), Prefix(1));
  EXPECT_EQ(iterator.Next(), Prefix(2));
  EXPECT_EQ(iterator.Next(), std::nullopt);
  EXPECT_EQ(now_, 20) << "without a wait";
}

TEST_F(CheckpointsIteratorTest, TimeoutFunctionDecidesWhetherToWaitOn) {
  CheckpointsIteratorOptions options = Options();
  options.timeout_secs = 4;
  int asked = 0;
  options.timeout_fn = [&] { return ++asked == 5; };
  CheckpointsIterator iterator(dir_.path(), options);
  EXPECT_EQ(iterator.Next(), Prefix(1));
  EXPECT_EQ(asked, 2);
  next_save_ = 1000;
  EXPECT_EQ(iterator.Next(), std::nullopt);
  EXPECT_EQ(asked, 5);
}

TEST_F(CheckpointsIteratorTest, KeepsTheLeastIntervalAndPassesOverCheckpoints) {
  CheckpointsIteratorOptions options = Options();
  options.min_interval_secs = 35;
  CheckpointsIterator iterator(dir_.path(), options);
  EXPECT_EQ(iterator.Next(), Prefix(1));
  EXPECT_EQ(iterator.Next(), Prefix(4));
  EXPECT_EQ(now_, 45);
}

}  // namespace
}  // namespace estimator
