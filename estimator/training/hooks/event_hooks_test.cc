// StepCounterHook, SummarySaverHook and GraphWriterHook, by the event files that they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/summary.h"
#include "estimator/proto/event.pb.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/event_reader.h"
#include "estimator/training/hooks/graph_writer_hook.h"
#include "estimator/training/hooks/step_counter_hook.h"
#include "estimator/training/hooks/summary_saver_hook.h"
#include "estimator/training/testing/fake_session.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// What tells a file that was replaced from one that was not.
uint64_t InodeOf(const std::string& path) {
  struct stat found = {};
  EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
  return found.st_ino;
}

// A session in a folder of its own; each step takes half a second.
class EventHooksTest : public ::testing::Test {
 protected:
  EventHooksTest() {
    session_.dir = dir_.path();
    session_.during_run = [this] { now_ += 0.5 * static_cast<double>(session_.steps_a_run); };
  }
  ~EventHooksTest() override { EST_EXPECT_OK(CloseAllEventFileWriters()); }

  Clock FakeClock() {
    return [this] { return now_; };
  }
  void Runs(SessionRunHook& hook, int count) {
    for (int run = 0; run < count; ++run) EST_ASSERT_OK(session_.Run(hook));
  }
  // The steps at which a tag was written, with its values.
  std::map<int64_t, double> Written(const std::string& tag, const std::string& directory = "") {
    EST_EXPECT_OK(CloseAllEventFileWriters());
    std::map<int64_t, double> by_step;
    const auto scalars = ReadScalars(directory.empty() ? dir_.path() : directory);
    EST_EXPECT_OK(scalars);
    for (const auto& [step, tags] : *scalars) {
      const auto found = tags.find(tag);
      if (found != tags.end()) by_step[step] = found->second;
    }
    return by_step;
  }
  std::vector<int64_t> Steps(const std::string& tag) {
    std::vector<int64_t> steps;
    for (const auto& [step, value] : Written(tag)) steps.push_back(step);
    return steps;
  }

  TempDir dir_;
  testing::FakeSession session_;
  double now_ = 100;
};

// Behaviour J7: the first time only starts the clock.
TEST_F(EventHooksTest, StepCounterEveryTenRecordsElevenAndTwentyOne) {
  StepCounterHook hook(
      {.cadence = {.every_steps = 10, .every_secs = std::nullopt}, .clock = FakeClock()});
  session_.examples = 64;
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 30);
  EXPECT_THAT(Written("global_step/sec"), ElementsAre(Pair(11, 2.0), Pair(21, 2.0)));
  EXPECT_THAT(Written("examples/sec"), ElementsAre(Pair(11, 128.0), Pair(21, 128.0)));
}

TEST_F(EventHooksTest, StepCounterWritesNoExamplesWhereTheirNumberIsUnknown) {
  StepCounterHook hook(
      {.cadence = {.every_steps = 1, .every_secs = std::nullopt}, .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 3);
  EXPECT_THAT(Steps("global_step/sec"), ElementsAre(2, 3));
  EXPECT_THAT(Steps("examples/sec"), IsEmpty());
}

// Behaviour J7.
TEST_F(EventHooksTest, StepCounterWarnsFiveTimesWhenTheStepIsStuck) {
  StepCounterHook hook(
      {.cadence = {.every_steps = 1, .every_secs = std::nullopt}, .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 1);
  const testing::CapturedLog log;
  session_.steps_a_run = 0;
  Runs(hook, 8);
  EXPECT_THAT(log.warnings, SizeIs(5));
  EXPECT_THAT(log.warnings[0], HasSubstr("global_step (1) has not changed since the last run"));
}

// Behaviour J8.
TEST_F(EventHooksTest, StepCounterWithFiveStepsARunEveryTenRecordsFifteenAndTwentyFive) {
  session_.steps_a_run = 5;
  StepCounterHook hook(
      {.cadence = {.every_steps = 10, .every_secs = std::nullopt}, .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 5);
  EXPECT_THAT(Written("global_step/sec"), ElementsAre(Pair(15, 2.0), Pair(25, 2.0)));
}

// Behaviour J8.
TEST_F(EventHooksTest, StepCounterWithFiveStepsARunEveryFiveRecordsEachRunAfterTheFirst) {
  session_.steps_a_run = 5;
  StepCounterHook hook(
      {.cadence = {.every_steps = 5, .every_secs = std::nullopt}, .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 4);
  EXPECT_THAT(Steps("global_step/sec"), ElementsAre(10, 15, 20));
}

// Behaviour J7.
TEST_F(EventHooksTest, StepCounterEverySecondsGoesByTheClock) {
  StepCounterHook hook(
      {.cadence = {.every_steps = std::nullopt, .every_secs = 2}, .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 10);
  EXPECT_THAT(Steps("global_step/sec"), ElementsAre(5, 9));
}

// Behaviour J9.
TEST_F(EventHooksTest, SummariesEveryEightAreOfOneNineSeventeenTwentyFive) {
  const GraphScope scope(session_.fake_graph);
  const Tensor loss = Constant(0.0f);
  session_.value = [this](const Tensor&) {
    return Array::Scalar(static_cast<float>(session_.step) / 2);
  };
  SummarySaverHook hook({.cadence = {.every_steps = 8, .every_secs = std::nullopt},
                         .loss = loss,
                         .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 30);
  EST_ASSERT_OK(hook.End(session_));
  EXPECT_THAT(Written("loss"),
              ElementsAre(Pair(1, 0.5), Pair(9, 4.5), Pair(17, 8.5), Pair(25, 12.5)));
  EXPECT_THAT(session_.requested_steps, ElementsAre(1, 9, 17, 25));
}

// Behaviour J9.
TEST_F(EventHooksTest, SummariesEveryTwoSeconds) {
  const GraphScope scope(session_.fake_graph);
  SummarySaverHook hook({.cadence = {.every_steps = std::nullopt, .every_secs = 2},
                         .loss = Constant(0.0f),
                         .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 10);
  EXPECT_THAT(Steps("loss"), ElementsAre(1, 5, 9));
  // A run may take twice as long as the one before, so the run before is asked as well.
  EXPECT_THAT(session_.requested_steps, ElementsAre(1, 4, 5, 8, 9));
}

TEST_F(EventHooksTest, SummariesEveryEightOfRunsOfThreeStepsAreOfRunsThatWrite) {
  const GraphScope scope(session_.fake_graph);
  session_.steps_a_run = 3;
  SummarySaverHook hook({.cadence = {.every_steps = 8, .every_secs = std::nullopt},
                         .loss = Constant(0.0f),
                         .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 8);
  EXPECT_THAT(Steps("loss"), ElementsAre(3, 12, 21));
  EXPECT_THAT(session_.requested_steps, ElementsAre(3, 12, 21));
}

TEST_F(EventHooksTest, SummariesAreWrittenWhereAStepAddsMoreThanOneToGlobalStep) {
  const GraphScope scope(session_.fake_graph);
  session_.during_run = [this] { session_.step += 4; };  // 5 in all
  SummarySaverHook hook({.cadence = {.every_steps = 10, .every_secs = std::nullopt},
                         .loss = Constant(0.0f),
                         .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 5);
  EXPECT_THAT(Steps("loss"), ElementsAre(5, 15, 25));
  EXPECT_THAT(session_.requested_steps, SizeIs(3));
}

// The time passes in a run that is longer than it seemed: the next one writes.
TEST_F(EventHooksTest, SummariesOfALongRunAreWrittenOneRunLater) {
  const GraphScope scope(session_.fake_graph);
  SummarySaverHook hook({.cadence = {.every_steps = std::nullopt, .every_secs = 10},
                         .loss = Constant(0.0f),
                         .clock = FakeClock()});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 2);
  session_.during_run = [this] { now_ += 20; };
  Runs(hook, 2);
  EXPECT_THAT(Steps("loss"), ElementsAre(1, 4));
}

TEST_F(EventHooksTest, EverySummaryOfTheModelIsWrittenByItsKind) {
  const GraphScope scope(session_.fake_graph);
  const Tensor number = Constant(3.0f), weights = Constant(Array::Of<float>({3}, {1, 2, 3})),
               image = Constant(Array(DType::kUint8, {2, 4, 4, 1}));
  summary::Scalar("rate", number);
  summary::Histogram("weights", weights);
  summary::Image("digits", image, 2);
  session_.value = [&](const Tensor& tensor) {
    return tensor == image     ? Array(DType::kUint8, {2, 4, 4, 1})
           : tensor == weights ? Array::Of<float>({3}, {1, 2, 3})
                               : Array::Scalar(3.0f);
  };
  SummarySaverHook hook({.loss = number, .output_dir = dir_.File("logs")});
  EST_ASSERT_OK(session_.Start(hook));
  Runs(hook, 1);
  EST_ASSERT_OK(CloseAllEventFileWriters());
  const auto files = ListDirectory(dir_.File("logs"));
  EST_ASSERT_OK(files);
  ASSERT_THAT(*files, SizeIs(1));
  std::map<std::string, SummaryRecord::Kind> kinds;
  const auto records = ReadEventFile(JoinPath(dir_.File("logs"), (*files)[0]));
  EST_ASSERT_OK(records);
  for (const SummaryRecord& record : *records) kinds[record.tag] = record.kind;
  EXPECT_THAT(kinds, UnorderedElementsAre(Pair("loss", SummaryRecord::Kind::kScalar),
                                          Pair("rate", SummaryRecord::Kind::kScalar),
                                          Pair("weights", SummaryRecord::Kind::kHistogram),
                                          Pair("digits/image/0", SummaryRecord::Kind::kImage),
                                          Pair("digits/image/1", SummaryRecord::Kind::kImage)));
}

TEST_F(EventHooksTest, ALossOfTheModelsOwnIsNotWrittenTwice) {
  const GraphScope scope(session_.fake_graph);
  const Tensor loss = Constant(0.0f);
  summary::Scalar("loss", loss);
  SummarySaverHook hook({.loss = loss});
  EST_ASSERT_OK(session_.Start(hook));
  RunContext context(session_, 0);
  EXPECT_THAT(hook.BeforeRun(context), SizeIs(1));
}

TEST_F(EventHooksTest, GraphWriterWritesTheTextAndAnEventThatHoldTheGraph) {
  const GraphScope scope(session_.fake_graph);
  Exp(Constant(1.0f));
  GraphWriterHook hook;
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_THAT(ReadFile(dir_.File("graph.pbtxt")).value(), HasSubstr("op: \"Exp\""));
  EST_ASSERT_OK(CloseAllEventFileWriters());

  const std::vector<std::string> files = ListDirectory(dir_.path()).value();
  std::vector<std::string> ops;
  for (const std::string& file : files) {
    if (file == "graph.pbtxt") continue;
    const auto reader = TFRecordReader::Open(dir_.File(file)).value();
    while (true) {
      const auto record = reader->Next();
      EST_ASSERT_OK(record);
      if (!record->has_value()) break;
      proto::Event event;
      ASSERT_TRUE(event.ParseFromString(**record));
      proto::GraphDef graph;
      ASSERT_TRUE(graph.ParseFromString(event.graph_def()));
      for (const proto::NodeDef& node : graph.node()) ops.push_back(node.op());
    }
  }
  EXPECT_THAT(ops, ElementsAre("Const", "Exp"));  // once
}

TEST_F(EventHooksTest, GraphWriterWritesNoEventOfAGraphThatIsTooLargeAndWarns) {
  const GraphScope scope(session_.fake_graph);
  Constant(Array(DType::kFloat32, {1024}), "table");
  const testing::CapturedLog log;
  GraphWriterHook hook(4095);
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_THAT(ReadFile(dir_.File("graph.pbtxt")).value(), HasSubstr("table"));
  EXPECT_THAT(ListDirectory(dir_.path()).value(), SizeIs(1));
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("'table' with 4.0 KiB")));
}

TEST_F(EventHooksTest, GraphWriterLeavesAFileThatSaysTheSameAlone) {
  const GraphScope scope(session_.fake_graph);
  Constant(1.0f);
  GraphWriterHook hook;
  EST_ASSERT_OK(session_.Start(hook));
  const std::string path = dir_.File("graph.pbtxt");
  const uint64_t inode = InodeOf(path);
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_EQ(InodeOf(path), inode);  // a new file would have been renamed into place
  Constant(2.0f);
  EST_ASSERT_OK(session_.Start(hook));
  EXPECT_NE(InodeOf(path), inode);
}

}  // namespace
}  // namespace estimator
