#include "estimator/training/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

EvalResult SomeResult() {
  EvalResult result;
  result.values["accuracy"] = Array::Scalar(0.97914f);
  result.values["loss"] = Array::Scalar(0.0625f);
  result.values["global_step"] = Array::Scalar(int64_t{1000});
  result.values["per_class"] = Array::Of<float>({2}, {0.5f, 1.0f});
  result.num_examples = 10000;
  result.seconds = 1.25;
  return result;
}

// Next() of a list of times.
Clock Times(std::vector<double> times) {
  return [times = std::move(times), i = size_t{0}]() mutable { return times.at(i++); };
}

class FakeSession : public Session {
 public:
  const Graph& graph() const override { std::abort(); }
  VariableStore& variables() override { std::abort(); }
  int64_t global_step() const override { return 0; }
  const std::string& model_dir() const override { std::abort(); }
  int64_t steps_per_run() const override { return 1; }
  int64_t examples_per_step() const override { return 100; }
  absl::StatusOr<std::string> SaveCheckpoint() override { std::abort(); }
  int64_t restored_step() const override { return -1; }
  std::string FirstNonFiniteTensor() override { return ""; }
};

void RunOnce(TrainingSpeedHook& hook, Session& session, int64_t num_steps) {
  RunContext context(session, 0);
  RunValues values;
  values.num_steps = num_steps;
  EST_ASSERT_OK(hook.AfterRun(context, values));
}

TEST(EvaluationTable, HasALineForEachMetric) {
  EXPECT_EQ(EvaluationTable(SomeResult()),
            "evaluated 10000 examples at step 1000 in 1.2 s\n"
            "metric     value\n"
            "accuracy   0.9791\n"
            "loss       0.0625\n"
            "per_class  [0.5, 1]\n");
}

TEST(EvaluationTable, GivesTinyNumbersTheirDigits) {
  EvalResult result;
  result.values["loss"] = Array::Scalar(1.5e-7f);
  EXPECT_NE(EvaluationTable(result).find("1.5000e-07"), std::string::npos);
}

TEST(EvaluationFields, AreTheScalarsAndTheNumberOfExamples) {
  const ReportFields fields = EvaluationFields(SomeResult());
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].first, "accuracy");
  EXPECT_NEAR(std::get<double>(fields[0].second), 0.97914, 1e-7);
  EXPECT_EQ(fields[1], (ReportFields::value_type{"global_step", int64_t{1000}}));
  EXPECT_EQ(fields[2], (ReportFields::value_type{"loss", 0.0625}));
  EXPECT_EQ(fields[3], (ReportFields::value_type{"examples_evaluated", int64_t{10000}}));
}

TEST(ResultJson, HasALineForEachField) {
  EXPECT_EQ(ToJson({{"accuracy", 0.5}, {"global_step", int64_t{7}}, {"device", "CPU"}}),
            "{\n  \"accuracy\": 0.5,\n  \"global_step\": 7,\n  \"device\": \"CPU\"\n}\n");
  EXPECT_EQ(ToJson({}), "{}\n");
}

TEST(ResultJson, EscapesTextAndHasNoNameForNan) {
  EXPECT_EQ(ToJson({{"a\"b", "x\\y\n"},
                    {"nan", std::nan("")},
                    {"inf", std::numeric_limits<double>::infinity()}}),
            "{\n  \"a\\\"b\": \"x\\\\y\\n\",\n  \"nan\": null,\n  \"inf\": null\n}\n");
}

TEST(ResultJson, HasNineDigitsANumberAndNoBytesThatAreNotUtf8) {
  EXPECT_EQ(ToJson({{"accuracy", double{0.97914f}}, {"rate", 1e-9}, {"device", "caf\xe9"}}),
            "{\n  \"accuracy\": 0.979139984,\n  \"rate\": 1e-09,\n  \"device\": "
            "\"caf\xef\xbf\xbd\"\n}\n");
}

TEST(ResultJson, CanBeOneLine) {
  EXPECT_EQ(ToJsonLine({{"loss", 0.25}, {"step", int64_t{3}}, {"input", "real"}}),
            "{\"loss\":0.25,\"step\":3,\"input\":\"real\"}");
}

TEST(ResultJson, IsWrittenToAFile) {
  const TempDir dir;
  EST_ASSERT_OK(WriteResultJson(dir.File("r.json"), {{"loss", 0.25}}));
  EXPECT_EQ(*ReadFile(dir.File("r.json")), "{\n  \"loss\": 0.25\n}\n");
}

TEST(ResultJson, AnErrorNamesThePath) {
  const absl::Status status = WriteResultJson("/no/such/place/r.json", {});
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status, ErrorHas("/no/such/place"));
}

TEST(TensorBoardCommand, CanBePastedIntoAShell) {
  EXPECT_EQ(TensorBoardCommand("/tmp/m-1_a.b"), "tensorboard --logdir=/tmp/m-1_a.b");
  EXPECT_EQ(TensorBoardCommand("/tmp/it's here"), "tensorboard --logdir='/tmp/it'\\''s here'");
}

TEST(Process, StartedALittleWhileAgoAndHoldsSomeMemory) {
  const double first = SecondsSinceProcessStart();
  EXPECT_GE(first, -0.02);
  EXPECT_LT(first, 3600);
  EXPECT_GE(SecondsSinceProcessStart(), first);
  EXPECT_GT(PeakRssMib(), 0.5);
  EXPECT_LT(PeakRssMib(), 100000);
}

TEST(TrainingSpeedHook, LeavesTheFirstRunOfACallOut) {
  FakeSession session;
  TrainingSpeedHook hook(Times({10, 12, 14, /*second call*/ 100, 101}), Times({0.75}));
  EXPECT_TRUE(std::isnan(hook.examples_per_second()));
  EXPECT_TRUE(std::isnan(hook.first_step_seconds()));
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  RunOnce(hook, session, 50);
  EXPECT_EQ(hook.first_step_seconds(), 0.75);
  EXPECT_TRUE(std::isnan(hook.examples_per_second()));
  RunOnce(hook, session, 50);
  RunOnce(hook, session, 10);
  EXPECT_EQ(hook.examples_per_second(), 60 * 100 / 4.0);
  EST_ASSERT_OK(hook.AfterCreateSession(session));
  RunOnce(hook, session, 50);
  RunOnce(hook, session, 40);
  EXPECT_EQ(hook.examples_per_second(), 100 * 100 / 5.0);
  EXPECT_EQ(hook.first_step_seconds(), 0.75);
}

}  // namespace
}  // namespace estimator
