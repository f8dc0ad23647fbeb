// What TPUEstimator does with the result of a compilation for a topology, with a stand-in for the
// compiler.
#include <string>
#include <vector>

#include "estimator/base/exit_code.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/rules/topology_check.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A topology check in place of the compiler's. Its results are set by tests.
absl::StatusOr<TopologyCheckResult> stand_in = TopologyCheckResult();
std::vector<Mode> compiled_modes;
bool interrupts = false;

absl::StatusOr<TopologyCheckResult> StandIn(const TopologyCheckRequest& request) {
  compiled_modes.push_back(request.mode);
  if (interrupts) RequestInterruptForTest();
  return stand_in;
}

[[maybe_unused]] const bool registered = RegisterTopologyCheck(StandIn);

class CheckedTopologyTest : public ::testing::Test {
 protected:
  void SetUp() override { compiled_modes.clear(); }
  void TearDown() override {
    interrupts = false;
    ClearInterrupt();
  }
  absl::Status Train(const absl::StatusOr<TopologyCheckResult>& result) {
    stand_in = result;
    TinyTPUEstimator::Options options = TinyTPUOptions(dir_.File("m"), /*num_shards=*/8);
    options.config.tpu_config.check = "v3-8";
    TinyTPUEstimator estimator(options);
    const auto input = [](const Params& params) {
      return Dataset::FromTensorSlices(TinyExamples(16))
          .Repeat()
          .Batch(params.batch_size, {.drop_remainder = true});
    };
    ::testing::internal::CaptureStdout();
    const absl::Status status = estimator.Train(input, MaxSteps(3));
    report_ = ::testing::internal::GetCapturedStdout();
    return status;
  }

  TempDir dir_;
  std::string report_;
};

TEST_F(CheckedTopologyTest, AStepThatDoesNotCompileIsTheFinalError) {
  const absl::Status status = Train(TopologyCheckResult{.passed = false, .text = "train: no\n"});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("no rule is violated, but not every step compiles for "
                                         "v3-8; the report on stdout says why")));
  EXPECT_FALSE(IsFinishedEarly(status));
  EXPECT_THAT(report_, AllOf(HasSubstr("train: no\n"), HasSubstr("TPU check: 0 violations")));
}

TEST_F(CheckedTopologyTest, ACheckThatCannotRunIsTheSame) {
  const absl::Status status = Train(absl::NotFoundError("libtpu.so is not installed"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("not every step compiles for v3-8")));
  EXPECT_THAT(report_, HasSubstr("train on v3-8: libtpu.so is not installed"));
}

TEST_F(CheckedTopologyTest, StepsThatCompileEndTheProgramEarly) {
  EXPECT_TRUE(IsFinishedEarly(Train(TopologyCheckResult{.passed = true, .text = "train: yes\n"})));
  EXPECT_THAT(report_, HasSubstr("train: yes\n"));
  EXPECT_THAT(compiled_modes, ::testing::ElementsAre(Mode::kTrain, Mode::kEval, Mode::kPredict));
}

TEST_F(CheckedTopologyTest, ASignalEndsTheCheckAfterTheReport) {
  interrupts = true;
  const absl::Status status = Train(TopologyCheckResult{.passed = false, .text = "train: no\n"});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, HasSubstr("a signal stopped")));
  EXPECT_FALSE(IsFinishedEarly(status));
  EXPECT_THAT(report_, HasSubstr("train: no\n"));
  EXPECT_THAT(compiled_modes, ::testing::ElementsAre(Mode::kTrain));
}

}  // namespace
}  // namespace estimator::tpu
