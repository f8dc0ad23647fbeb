// Training, evaluation and export with data and model_dir on a remote file system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/memory_file_system.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/export/serving/load_predictor.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/event_reader.h"
#include "estimator/training/testing/tiny_model.h"
#include "estimator/training/train_and_evaluate.h"

namespace estimator {
namespace {

using ::estimator::testing::CapturedLog;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kModelDir[] = "mem://bucket/run";

Dataset Endless(const TinyParams&) { return TinyDataset(5).Shuffle(20, {.seed = 3}).Repeat(); }

// Each estimator is a process of its own.
Estimator<TinyParams> NewProcess(const std::string& model_dir = kModelDir) {
  CloseAllEventFileWriters().IgnoreError();  // a killed process does not report its error either
  auto options = TinyOptions(model_dir);
  options.config.keep_checkpoint_max = 2;
  options.config.save_summary_steps = 1;
  options.params.dropout = 0.2;
  return Estimator<TinyParams>(options);
}

std::string Bits(int64_t step, const std::string& model_dir = kModelDir) {
  const auto bits = CheckpointBits(JoinPath(model_dir, absl::StrCat("model.ckpt-", step)));
  EST_EXPECT_OK(bits);
  return bits.value_or("");
}

TEST(RemoteModelDirTest, ARunContinuesWithTheBitsOfALocalOne) {
  const TempDir dir;
  EST_ASSERT_OK(NewProcess(dir.path()).Train(Endless, MaxSteps(20)));
  MemoryFileSystem store;
  for (const int64_t steps : {5, 10, 20}) {
    EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(steps)));
  }
  EXPECT_EQ(Bits(20), Bits(20, dir.path()));
  EXPECT_THAT(*LatestCheckpoint(kModelDir), JoinPath(kModelDir, "model.ckpt-20"));
  // Retention, and nothing else is left.
  std::set<std::string> names;
  for (const std::string& name : *ListDirectory(kModelDir)) {
    if (!absl::StrContains(name, "tfevents")) names.insert(name);
  }
  EXPECT_THAT(names,
              ElementsAre("checkpoint", "model.ckpt-15.data-00000-of-00001", "model.ckpt-15.index",
                          "model.ckpt-15.input", "model.ckpt-20.data-00000-of-00001",
                          "model.ckpt-20.index", "model.ckpt-20.input"));
  EXPECT_EQ(store.Files().at("mem://bucket/run/model.ckpt-20.index"),
            *ReadFile(dir.File("model.ckpt-20.index")));
}

// From some request on, the store answers no process any more: what a kill and an outage look like.
TEST(RemoteModelDirTest, AfterAnOutageAtAnyInstantTheRunEndsWithTheSameBits) {
  std::string expected;
  {
    const MemoryFileSystem store;
    EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(10)));
    expected = Bits(10);
  }
  for (int64_t last = 0;; last += 7) {
    ASSERT_LT(last, 2000);
    MemoryFileSystem store;
    std::atomic<int64_t> count = 0;
    store.OnRequest([&](absl::string_view, absl::string_view path) {
      return count++ < last ? absl::OkStatus()
                            : absl::UnavailableError(absl::StrCat(path, ": HTTP status 503"));
    });
    const absl::Status first = NewProcess().Train(Endless, MaxSteps(10));
    CloseAllEventFileWriters().IgnoreError();
    store.OnRequest(nullptr);
    if (!first.ok()) {
      EXPECT_THAT(first, ErrorHas("mem://bucket/run"));
      EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(10)));
    }
    ASSERT_EQ(Bits(10), expected) << last;
    // The next save removes what is left of the one that was interrupted.
    EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(15)));
    for (const std::string& name : *ListDirectory(kModelDir)) {
      ASSERT_FALSE(absl::StrContains(name, ".tmp-")) << last << " " << name;
    }
    if (first.ok()) break;
  }
}

// The run must not begin anew, or fall back to an older checkpoint, because the store is busy.
TEST(RemoteModelDirTest, AStoreThatDoesNotAnswerIsAnErrorAndNoFreshStart) {
  MemoryFileSystem store;
  EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(10)));
  const std::string bits = Bits(10);
  for (const char* const busy : {"model.ckpt-10.index", "/checkpoint", "model.ckpt-10.data"}) {
    store.OnRequest([&](absl::string_view, absl::string_view path) {
      return absl::StrContains(path, busy)
                 ? absl::UnavailableError(absl::StrCat(path, ": HTTP status 503"))
                 : absl::OkStatus();
    });
    EXPECT_THAT(NewProcess().Train(Endless, MaxSteps(15)), ErrorHas("503")) << busy;
    store.OnRequest(nullptr);
    EXPECT_EQ(Bits(10), bits);
  }
}

TEST(RemoteModelDirTest, EventsAreInWholeFilesAndNoStepIsLostOrTwice) {
  const MemoryFileSystem store;
  for (const int64_t steps : {10, 20}) {
    EST_ASSERT_OK(NewProcess().Train(Endless, MaxSteps(steps)));
  }
  std::vector<int64_t> shown, expected;
  for (const SummaryRecord& record : *ReadEventDirectory(kModelDir)) {
    if (record.tag == "loss") shown.push_back(record.step);
  }
  for (int64_t step = 1; step <= 20; ++step) expected.push_back(step);
  EXPECT_EQ(shown, expected);
  int num_files = 0;
  for (const auto& [path, contents] : store.Files()) {
    if (!absl::StrContains(path, "tfevents")) continue;
    ++num_files;
    EXPECT_THAT(contents, HasSubstr("brain.Event:2")) << path;
  }
  // One for each checkpoint and one at the end of each training, and not one for each step.
  EXPECT_GE(num_files, 2);
  EXPECT_LE(num_files, 12);
}

TEST(RemoteModelDirTest, ASecondRunIsNoticedWhenItSaves) {
  const MemoryFileSystem store;
  const auto save = [](Saver& saver, int64_t step) {
    EST_EXPECT_OK(saver.Save(kModelDir, step, {{"w", Array::Scalar(1.0f)}}));
  };
  Saver one, two;
  CapturedLog log;
  save(one, 1);
  save(one, 2);
  save(two, 1);
  EXPECT_THAT(log.warnings, IsEmpty());
  save(one, 3);
  EXPECT_THAT(log.warnings, Contains(HasSubstr("another run saves to the same directory")));
}

TEST(RemoteModelDirTest, EvaluatesAndExportsAndServes) {
  MemoryFileSystem store;
  const ServingInputReceiverFn raw =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  const auto input = [](const TinyParams&) { return TinyDataset(5); };
  auto estimator = NewProcess();
  EST_ASSERT_OK(TrainAndEvaluate(
      estimator, {.input_fn = Endless, .max_steps = 10},
      {.input_fn = input,
       .steps = std::nullopt,
       .exporters = {std::make_shared<LatestExporter>(LatestExporter(
           {.name = "latest", .serving_input_receiver_fn = raw, .exports_to_keep = 1}))},
       .throttle_secs = 0}));
  const auto evaluated = estimator.Evaluate(input);
  EST_ASSERT_OK(evaluated);
  EXPECT_EQ(evaluated->global_step(), 10);
  EXPECT_EQ(ReadScalars(JoinPath(kModelDir, "eval"))->count(10), 1);
  const std::string exports = JoinPath(kModelDir, "export/latest");
  const std::vector<std::string> names = *ListDirectory(exports);
  ASSERT_EQ(names.size(), 1);
  const auto predictor = LoadPredictor(JoinPath(exports, names[0]));
  EST_ASSERT_OK(predictor);
  const auto outputs = (*predictor)->Predict({{"x", TinyExamples(4).features.at("x")}});
  EST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->begin()->second.shape()[0], 4);
  // An export that fails is no SavedModel, and leaves nothing.
  store.OnRequest([](absl::string_view request, absl::string_view path) {
    return request == "commit" && absl::EndsWith(path, "saved_model.pb")
               ? absl::UnavailableError(absl::StrCat(path, ": HTTP status 503"))
               : absl::OkStatus();
  });
  EXPECT_THAT(estimator.ExportSavedModel("mem://bucket/other", raw),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(*Exists("mem://bucket/other"));
}

TEST(RemoteModelDirTest, RecordsAreFoundByPatternAndReadInOrder) {
  MemoryFileSystem store;
  for (const int shard : {0, 1}) {
    const auto writer =
        *TFRecordWriter::Open(absl::StrCat("mem://bucket/data/train-0", shard, ".tfrecord"));
    for (int i = 0; i < 1000; ++i) EST_ASSERT_OK(writer->Write(absl::StrCat(1000 * shard + i)));
    EST_ASSERT_OK(writer->Close());
  }
  for (const bool indexed : {false, true}) {
    const auto iterator =
        TFRecordDataset({"mem://bucket/data/train-*"}, {.indexed = indexed}).MakeIterator();
    EST_ASSERT_OK(iterator);
    for (int i = 0; i < 2000; ++i) {
      const auto element = (*iterator)->Next();
      EST_ASSERT_OK(element);
      ASSERT_EQ((*element)->features.at("").scalar<std::string>(), absl::StrCat(i));
    }
  }
  EXPECT_LT(store.num_requests(), 40);
  EXPECT_THAT(TFRecordDataset({"mem://bucket/data/none"}).MakeIterator().status(),
              ErrorHas("no such file: mem://bucket/data/none"));
}

}  // namespace
}  // namespace estimator
