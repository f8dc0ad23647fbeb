// The exporters of TrainAndEvaluate, called as it calls them.
#include "estimator/training/exporter.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/export/serving/load_predictor.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

EvalResult Result(int64_t step, float loss, float accuracy = 0) {
  EvalResult result;
  result.values["loss"] = Array::Scalar(loss);
  result.values["accuracy"] = Array::Scalar(accuracy);
  result.values["global_step"] = Array::Scalar(step);
  return result;
}

class ExporterTest : public ::testing::Test {
 protected:
  explicit ExporterTest(const std::string& model_dir = "m")
      : estimator_(TinyOptions(dir_.File(model_dir))) {}
  void SetUp() override {
    EST_ASSERT_OK(
        estimator_.Train([](const TinyParams&) { return TinyDataset(5).Repeat(); }, MaxSteps(5)));
    checkpoint_ = **estimator_.LatestCheckpoint();
  }
  std::string PathOf(const Exporter& exporter) {
    return JoinPath(estimator_.model_dir(), "export", exporter.name());
  }
  // Whether an evaluation with this result is exported.
  bool Exported(Exporter& exporter, const EvalResult& result, bool final = false) {
    const auto exported = exporter.Export(estimator_, PathOf(exporter), checkpoint_, result, final);
    EST_EXPECT_OK(exported);
    if (!exported.ok() || !exported->has_value()) return false;
    EXPECT_EQ(Dirname(**exported), PathOf(exporter));
    EXPECT_TRUE(FileExists(JoinPath(**exported, "saved_model.pb")));
    return true;
  }
  BestExporter Best(CompareFn compare_fn = LossSmaller) {
    return BestExporter(
        {.name = "best", .serving_input_receiver_fn = raw_, .compare_fn = std::move(compare_fn)});
  }
  void WriteEvents(const std::vector<std::pair<int64_t, float>>& losses, bool with_empty = false) {
    // The names of two files of the same second differ by the suffix.
    const auto writer = EventFileWriter::Open(JoinPath(estimator_.model_dir(), "eval"),
                                              absl::StrCat(".", num_event_files_++));
    EST_ASSERT_OK(writer);
    if (with_empty) {
      EST_ASSERT_OK((*writer)->AddSummary("", 0));
    }
    for (const auto& [step, loss] : losses) {
      EST_ASSERT_OK((*writer)->AddScalar("loss", loss, step));
      EST_ASSERT_OK((*writer)->AddScalar("accuracy", 1 - loss, step));
    }
    EST_ASSERT_OK((*writer)->Flush());
  }

  TempDir dir_;
  Estimator<TinyParams> estimator_;
  std::string checkpoint_;
  int num_event_files_ = 0;
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
};

// Behaviour I1.
TEST_F(ExporterTest, ExportsToKeepMustBePositive) {
  EXPECT_THAT(LatestExporter({.name = "l", .serving_input_receiver_fn = raw_, .exports_to_keep = 0})
                  .Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("exporter 'l': `exports_to_keep`, if provided, must be a positive "
                                 "number. Got 0")));
  EXPECT_THAT(BestExporter({.serving_input_receiver_fn = raw_, .exports_to_keep = -1}).Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Got -1")));
  EXPECT_THAT(BestExporter({.serving_input_receiver_fn = raw_, .compare_fn = nullptr}).Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("`compare_fn` must not be")));
  EXPECT_THAT(FinalExporter({.name = "f"}).Validate(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("exporter 'f': serving_input_receiver_fn must be given")));
  EST_EXPECT_OK(
      LatestExporter(
          {.name = "all", .serving_input_receiver_fn = raw_, .exports_to_keep = std::nullopt})
          .Validate());
}

TEST(DeleteOldExports, DeletesOnlyFoldersOfExports) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("1400000001/variables")));  // the rest of a deleted one
  EST_ASSERT_OK(CreateDirectories(dir.File("1400000002")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("1400000002/thesis.tex"), "precious"));
  EST_ASSERT_OK(CreateDirectories(dir.File("other")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("other/saved_model.pb"), "precious"));
  ASSERT_EQ(::symlink("other", dir.File("1400000003").c_str()), 0);
  EST_ASSERT_OK(WriteFileAtomically(dir.File("1400000004"), "a file"));
  EST_ASSERT_OK(CreateDirectories(dir.File("1400000005")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("1400000005/saved_model.pb"), "x"));
  DeleteOldExports(dir.path(), 1);
  EXPECT_THAT(*ListDirectory(dir.path()),
              ElementsAre("1400000002", "1400000003", "1400000004", "1400000005", "other"));
  EXPECT_TRUE(FileExists(dir.File("other/saved_model.pb")));
  EXPECT_TRUE(*HasExports(dir.path()));
  EXPECT_FALSE(*HasExports(dir.File("missing")));
  const ScopedFaultInjector faults([](FileOperation, absl::string_view path) -> Fault {
    return {.status = absl::ErrnoToStatus(EIO, absl::StrCat("cannot list ", path))};
  });
  EXPECT_THAT(HasExports(dir.path()), ErrorHas(dir.path()))
      << "a BestExporter would export a worse model";
}

TEST(DeleteOldExports, KeepsTheNewestAndForeignNames) {
  const TempDir dir;
  for (const char* name : {"1400000001", "1400000002", "1400000003", "1400000004",
                           "temp-1400000005", "123", "140000000x"})
    EST_ASSERT_OK(CreateDirectories(dir.File(name)));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("1400000001/saved_model.pb"), "x"));
  DeleteOldExports(dir.path() + "/", 2);
  EXPECT_THAT(*ListDirectory(dir.path()),
              ElementsAre("123", "1400000003", "1400000004", "140000000x", "temp-1400000005"));
  DeleteOldExports(dir.File("missing"), 2);
}

TEST_F(ExporterTest, LatestKeepsTheNewest) {
  LatestExporter latest({.name = "latest",
                         .serving_input_receiver_fn = raw_,
                         .assets_extra = {{"notes.txt", dir_.File("notes")}},
                         .as_text = true,
                         .exports_to_keep = 2});
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("notes"), "n"));
  EST_ASSERT_OK(CreateDirectories(JoinPath(PathOf(latest), "1400000001")));
  EST_ASSERT_OK(CreateDirectories(JoinPath(PathOf(latest), "1400000002")));
  const auto exported = latest.Export(estimator_, PathOf(latest), checkpoint_, Result(5, 1), false);
  EST_ASSERT_OK(exported);
  ASSERT_TRUE(exported->has_value());
  EXPECT_THAT(*ListDirectory(PathOf(latest)),
              ElementsAre("1400000002", std::string(Basename(**exported))));
  EXPECT_TRUE(FileExists(JoinPath(**exported, "saved_model.pbtxt")));
  EXPECT_EQ(*ReadFile(JoinPath(**exported, "assets.extra/notes.txt")), "n");
}

// Behaviour I4.
TEST_F(ExporterTest, FinalExportsOnlyWithTheFinalFlag) {
  FinalExporter exporter({.name = "final", .serving_input_receiver_fn = raw_});
  EXPECT_FALSE(Exported(exporter, Result(5, 1), /*final=*/false));
  EXPECT_FALSE(FileExists(PathOf(exporter)));
  EXPECT_TRUE(Exported(exporter, Result(5, 1), /*final=*/true));
}

// Behaviour I2.
TEST_F(ExporterTest, BestExportsOnlyWhatIsBetter) {
  BestExporter best = Best();
  EXPECT_TRUE(Exported(best, Result(1, 0.5f)));
  EXPECT_FALSE(Exported(best, Result(2, 0.6f)));
  EXPECT_FALSE(Exported(best, Result(3, 0.5f))) << "as good is not better";
  EXPECT_TRUE(Exported(best, Result(4, 0.4f)));
}

TEST_F(ExporterTest, BestComparesAsTheUserSays) {
  BestExporter best = Best([](const EvalResult& best, const EvalResult& current) {
    return current["accuracy"] > best["accuracy"];
  });
  EXPECT_TRUE(Exported(best, Result(1, 0.5f, 0.7f)));
  EXPECT_FALSE(Exported(best, Result(2, 0.1f, 0.6f)));
  EXPECT_TRUE(Exported(best, Result(3, 0.9f, 0.8f)));
}

TEST(LossSmaller, NeedsLosses) {
  EXPECT_TRUE(*LossSmaller(Result(1, 0.5f), Result(2, 0.4f)));
  EXPECT_FALSE(*LossSmaller(Result(1, 0.5f), Result(2, 0.5f)));
  EXPECT_TRUE(*LossSmaller(Result(1, std::nanf("")), Result(2, 0.5f)));
  EXPECT_FALSE(*LossSmaller(Result(1, 0.5f), Result(2, std::nanf(""))));
  EXPECT_THAT(LossSmaller(EvalResult(), Result(1, 0.5f)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("best_eval_result cannot be empty or no loss is found in it.")));
  EXPECT_THAT(LossSmaller(Result(1, 0.5f), EvalResult()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("current_eval_result")));
}

// Behaviour I3.
TEST_F(ExporterTest, BestExportsTheFirstIfThereIsNoExport) {
  WriteEvents({{1, 50}, {2, 60}}, /*with_empty=*/true);
  BestExporter best = Best();
  EXPECT_TRUE(Exported(best, Result(3, 100)));
  EXPECT_TRUE(Exported(best, Result(4, 10)));
  EXPECT_FALSE(Exported(best, Result(5, 20)));
}

// A process that was killed and started again: TensorFlow exports the 100 here.
TEST_F(ExporterTest, BestKeepsTheBestResultOfTheProcessBefore) {
  BestExporter before = Best();
  EXPECT_TRUE(Exported(before, Result(1, 50)));
  WriteEvents({{1, 50}, {2, 60}}, /*with_empty=*/true);
  WriteEvents({{3, 100}});  // Evaluate writes its event before the export
  BestExporter after = Best();
  EXPECT_FALSE(Exported(after, Result(3, 100)));
  WriteEvents({{4, 40}});
  EXPECT_TRUE(Exported(after, Result(4, 40)));
  WriteEvents({{5, 45}});
  BestExporter again = Best();
  EXPECT_FALSE(Exported(again, Result(5, 45)));
}

// As a pattern, the name of this folder would match others, but not itself.
class ExporterInBracketsTest : public ExporterTest {
 protected:
  ExporterInBracketsTest() : ExporterTest("lr=[0.05,2]") {}
};

TEST_F(ExporterInBracketsTest, BestKeepsTheBestResultOfTheProcessBefore) {
  BestExporter before = Best();
  EXPECT_TRUE(Exported(before, Result(1, 50)));
  WriteEvents({{1, 50}});
  WriteEvents({{2, 100}});
  BestExporter after = Best();
  EXPECT_FALSE(Exported(after, Result(2, 100)));
}

TEST_F(ExporterTest, BestExportsABestResultThatIsTheFirstAfterARestart) {
  BestExporter before = Best();
  EXPECT_TRUE(Exported(before, Result(1, 50)));
  WriteEvents({{1, 50}, {2, 30}});
  BestExporter after = Best();
  EXPECT_TRUE(Exported(after, Result(2, 30))) << "its own event is not an earlier result";
}

TEST_F(ExporterTest, BestSkipsEventsOfHooksAndDamagedFiles) {
  BestExporter before = Best();
  EXPECT_TRUE(Exported(before, Result(1, 50)));
  const auto writer = EventFileWriter::Open(JoinPath(estimator_.model_dir(), "eval"), ".hook");
  EST_ASSERT_OK(writer);
  EST_ASSERT_OK((*writer)->AddScalar("examples/sec", 7, 1));
  EST_ASSERT_OK((*writer)->Flush());
  EST_ASSERT_OK(WriteFileAtomically(
      JoinPath(estimator_.model_dir(), "eval/events.out.tfevents.1.damaged"), "not an event file"));
  WriteEvents({{1, 50}});
  BestExporter after = Best();
  EXPECT_FALSE(Exported(after, Result(2, 60)));
}

TEST_F(ExporterTest, BestSaysThatItsPatternFindsNoEarlierResult) {
  BestExporter before = Best();
  EXPECT_TRUE(Exported(before, Result(1, 50)));
  const estimator::testing::CapturedLog log;
  BestExporter after({.name = "best",
                      .serving_input_receiver_fn = raw_,
                      .event_file_pattern = "eval_other/*.tfevents.*"});
  EXPECT_TRUE(Exported(after, Result(2, 60)));
  EXPECT_THAT(log.warnings, Contains(HasSubstr("no earlier result in ")));
}

TEST_F(ExporterTest, AnExportCanBeServed) {
  LatestExporter latest({.name = "latest", .serving_input_receiver_fn = raw_});
  const auto exported = latest.Export(estimator_, PathOf(latest), checkpoint_, Result(5, 1), false);
  EST_ASSERT_OK(exported);
  const auto predictor = LoadPredictor(**exported);
  EST_ASSERT_OK(predictor);
  EST_EXPECT_OK((*predictor)->Predict({{"x", Array(DType::kFloat32, {3, 2})}}));
}

}  // namespace
}  // namespace estimator
