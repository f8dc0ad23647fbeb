// A newest checkpoint whose bytes are not those that were written: found while it is read, and the
// one before takes its place.
#include <memory>

#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::CapturedLog;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Endless(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(6);
}
Dataset Once(const TinyParams&) { return TinyDataset(8); }

class DamagedCheckpointTest : public ::testing::Test {
 protected:
  // Checkpoints at steps 5 and 10.
  void SetUp() override {
    Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
    EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(10)));
  }
  std::string Prefix(int step) const { return dir_.File(absl::StrCat("model.ckpt-", step)); }
  // The first byte is a weight's, the last is global_step's.
  void Flip(int step, bool last) {
    const std::string path = DataPath(Prefix(step), 0, 1);
    std::string bytes = *ReadFile(path);
    char& byte = last ? bytes.back() : bytes.front();
    byte = static_cast<char>(byte ^ 0x10);
    EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  }

  TempDir dir_;
};

class DamagedWhileTrainingTest : public DamagedCheckpointTest,
                                 public ::testing::WithParamInterface<bool> {};

TEST_P(DamagedWhileTrainingTest, TrainingGoesBackToTheOneBeforeAndOnToTheSameBits) {
  Flip(10, GetParam());
  const auto recorder = std::make_shared<RunRecorder>();
  const CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  const absl::Status status = estimator.Train(Endless, MaxSteps(11), {.hooks = {recorder}});
  EST_ASSERT_OK(status);
  ASSERT_FALSE(recorder->steps.empty());
  EXPECT_EQ(recorder->steps.front(), 6);
  EXPECT_EQ(recorder->num_begins, 1);
  EXPECT_THAT(log.warnings,
              ElementsAre(AllOf(HasSubstr("falling back to checkpoint " + Prefix(5)),
                                HasSubstr(DataPath(Prefix(10), 0, 1)), HasSubstr("crc32c is"),
                                HasSubstr(GetParam() ? "global_step (8 bytes at offset"
                                                     : "dense/bias (16 bytes at offset 0)"))));
  Estimator<TinyParams> undamaged(TinyOptions(dir_.File("undamaged")));
  EST_ASSERT_OK(undamaged.Train(Endless, MaxSteps(11)));
  EXPECT_EQ(*CheckpointBits(Prefix(11)), *CheckpointBits(dir_.File("undamaged/model.ckpt-11")))
      << "the input position went back too";
}

INSTANTIATE_TEST_SUITE_P(AWeightOrTheStep, DamagedWhileTrainingTest, ::testing::Bool());

// A fixed bug: training was skipped, and what came after took the older variables.
TEST_F(DamagedCheckpointTest, ADamagedOneAtMaxStepsIsNotTheEndOfTraining) {
  Flip(10, /*last=*/false);
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(10)));
  EXPECT_EQ(estimator.Evaluate([](const TinyParams&) { return TinyDataset(4); })->global_step(),
            10);
  Estimator<TinyParams> undamaged(TinyOptions(dir_.File("undamaged")));
  EST_ASSERT_OK(undamaged.Train(Endless, MaxSteps(10)));
  EXPECT_EQ(*CheckpointBits(Prefix(10)), *CheckpointBits(dir_.File("undamaged/model.ckpt-10")));
}

TEST_F(DamagedCheckpointTest, EvaluationAndPredictionGoBackTooAndSayItOnce) {
  Flip(10, /*last=*/true);
  const CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  for (int round = 0; round < 3; ++round) {
    const auto result = estimator.Evaluate(Once);
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->global_step(), 5);
    EXPECT_EQ(result->checkpoint_path, Prefix(5));
  }
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("falling back to checkpoint")));
  Estimator<TinyParams> other(TinyOptions(dir_.path()));
  const auto from_five = other.Predict(Once, {.checkpoint_path = Prefix(5)}).Next();
  const auto predicted = estimator.Predict(Once).Next();
  EST_ASSERT_OK(predicted);
  EXPECT_EQ((*predicted)->at("y").AsDouble(), (*from_five)->at("y").AsDouble());
}

// Fixed bug: it was called a new run.
TEST_F(DamagedCheckpointTest, TheBannerSaysWhichCheckpointTrainingGoesOnFrom) {
  Flip(5, /*last=*/false);
  Flip(10, /*last=*/false);
  const CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(1)));
  EXPECT_THAT(log.infos,
              Contains(HasSubstr("continues after step 0, from model.ckpt-0 (the warning above "
                                 "says why this one)")));
}

TEST_F(DamagedCheckpointTest, ACheckpointThatIsNamedIsNeverReplaced) {
  Flip(10, /*last=*/true);
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  const auto result = estimator.Evaluate(Once, {.checkpoint_path = Prefix(10)});
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("crc32c")));
}

TEST_F(DamagedCheckpointTest, WithoutAWholeOneNothingIsTrainedOver) {
  Flip(5, /*last=*/false);
  Flip(10, /*last=*/true);
  EST_ASSERT_OK(RemoveFile(IndexPath(Prefix(0))));
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  const absl::Status status = estimator.Train(Endless, MaxSteps(20));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no checkpoint in")));
  EXPECT_THAT(status, ErrorHas("model.ckpt-5.data-00000-of-00001"));
}

// Fixed bug: it counted as damaged, and the run that fell back to step 5 overwrote it.
TEST_F(DamagedCheckpointTest, ANewestCheckpointThatMayNotBeReadStopsTheRunAndStaysAsItIs) {
  const std::string data = DataPath(Prefix(10), 0, 1), before = *ReadFile(data);
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  {
    const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view path) -> Fault {
      if (operation != FileOperation::kOpen || path != data) return {};
      return {.status = absl::PermissionDeniedError(absl::StrCat("cannot open ", path)),
              .truncate_after_bytes = std::nullopt};
    });
    for (const int max_steps : {10, 20}) {
      EXPECT_THAT(estimator.Train(Endless, MaxSteps(max_steps)),
                  StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(Prefix(10))));
    }
    EXPECT_THAT(estimator.Evaluate(Once), StatusIs(absl::StatusCode::kPermissionDenied));
  }
  EXPECT_EQ(*ReadFile(data), before);
  EXPECT_EQ(estimator.Evaluate(Once)->global_step(), 10);
}

// Fixed bug: a new run began and overwrote the checkpoints.
TEST_F(DamagedCheckpointTest, WithoutTheStateFileTrainingContinuesFromTheNewest) {
  EST_ASSERT_OK(RemoveFile(dir_.File("checkpoint")));
  const auto recorder = std::make_shared<RunRecorder>();
  const CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(11), {.hooks = {recorder}}));
  EXPECT_THAT(recorder->steps, ElementsAre(11));
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("using the newest checkpoint, " + Prefix(10))));
  EXPECT_TRUE(FileExists(dir_.File("checkpoint")));
}

// The variables are whole: only the user can say whether the input may begin again.
TEST_F(DamagedCheckpointTest, ADamagedInputPositionStopsTrainingWithACureThatWorks) {
  const std::string path = InputStatePath(Prefix(10)), whole = *ReadFile(path);
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x10);
  for (const std::string& damaged : {flipped, whole.substr(0, whole.size() - 3), std::string()}) {
    EST_ASSERT_OK(WriteFileAtomically(path, damaged));
    Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
    const absl::Status status = estimator.Train(Endless, MaxSteps(11));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 AllOf(HasSubstr(path), HasSubstr("saved input position"),
                                       HasSubstr(absl::StrCat("delete ", path,
                                                              " to continue from step 10 with the "
                                                              "input at its beginning")))));
    EXPECT_FALSE(FileExists(IndexPath(Prefix(11)))) << "nothing was trained";
  }
  EST_ASSERT_OK(RemoveFile(path));
  const auto recorder = std::make_shared<RunRecorder>();
  const CapturedLog log;
  Estimator<TinyParams> estimator(TinyOptions(dir_.path()));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(12), {.hooks = {recorder}}));
  EXPECT_THAT(recorder->steps, ElementsAre(11, 12));
  EXPECT_TRUE(FileExists(InputStatePath(Prefix(12)))) << "from here on the position is kept again";
}

}  // namespace
}  // namespace estimator
