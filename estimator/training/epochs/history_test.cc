#include "estimator/training/epochs/history.h"

#include <cmath>
#include <limits>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

History TwoEpochs() {
  return {.records = {{.epoch = 0, .global_step = 5, .logs = {{"loss", 0.1}}, .seconds = 1.5},
                      {.epoch = 1,
                       .global_step = 10,
                       .logs = {{"loss", 1e-5}, {"val_loss", std::nan("")}},
                       .seconds = 2}}};
}

TEST(History, IsEmptyWithoutAFile) {
  const TempDir dir;
  const auto history = ReadHistory(dir.path());
  EST_ASSERT_OK(history);
  EXPECT_TRUE(history->empty());
}

TEST(History, TheFilesHaveALineForEachEpoch) {
  const TempDir dir;
  History history;
  for (const EpochRecord& record : TwoEpochs().records) {
    history.records.push_back(record);
    EST_ASSERT_OK(AppendToHistory(dir.path(), history));
  }
  EXPECT_EQ(ReadFile(dir.File("history.jsonl")).value(),
            "{\"epoch\":0,\"step\":5,\"loss\":0.1,\"seconds\":1.5}\n"
            "{\"epoch\":1,\"step\":10,\"loss\":1e-05,\"val_loss\":null,\"seconds\":2.0}\n");
  // A column that is new in the second epoch is one of the whole table.
  EXPECT_EQ(ReadFile(dir.File("history.csv")).value(),
            "epoch,step,loss,val_loss,seconds\n0,5,0.1,,1.5\n1,10,1e-05,nan,2.0\n");
  const auto read = ReadHistory(dir.path());
  EST_ASSERT_OK(read);
  EXPECT_THAT((*read)["loss"], ElementsAre(0.1, 1e-5));
  EXPECT_THAT((*read)["val_loss"], ElementsAre(IsNan(), IsNan()));
  EXPECT_THAT((*read)["nothing"], ElementsAre(IsNan(), IsNan()));
  EXPECT_EQ(read->last().global_step, 10);
  EXPECT_EQ(read->last().seconds, 2);
}

TEST(History, AppendedAndWrittenAtOnceTheFilesAreTheSame) {
  const TempDir dir;
  History history;
  for (const EpochRecord& record : TwoEpochs().records) {
    history.records.push_back(record);
    EST_ASSERT_OK(AppendToHistory(dir.File("a"), history));
  }
  history.records.push_back({.epoch = 2, .global_step = 15, .logs = {{"loss", 1}}, .seconds = 3});
  EST_ASSERT_OK(AppendToHistory(dir.File("a"), history));
  EST_ASSERT_OK(WriteHistory(dir.File("b"), history));
  for (const char* name : {"history.csv", "history.jsonl"}) {
    EXPECT_EQ(ReadFile(dir.File(std::string("a/") + name)).value(),
              ReadFile(dir.File(std::string("b/") + name)).value());
  }
}

TEST(History, ALineThatWasNotWrittenToItsEndIsLeftOut) {
  const TempDir dir;
  EST_ASSERT_OK(WriteHistory(dir.path(), TwoEpochs()));
  const std::string whole = ReadFile(dir.File("history.jsonl")).value();
  EST_ASSERT_OK(WriteFileAtomically(dir.File("history.jsonl"), whole.substr(0, whole.size() - 1)));
  const auto history = ReadHistory(dir.path());
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->records.size(), 1u);
}

TEST(History, ADamagedLineIsNamed) {
  const TempDir dir;
  EST_ASSERT_OK(WriteHistory(dir.path(), TwoEpochs()));
  const std::string whole = ReadFile(dir.File("history.jsonl")).value();
  for (const char* line : {"epoch 3\n", "{\"epoch\":3}\n", "[]\n",
                           "{\"epoch\":3,\"step\":9,\"seconds\":1,\"loss\":\"x\"}\n"}) {
    EST_ASSERT_OK(WriteFileAtomically(dir.File("history.jsonl"), whole + line));
    EXPECT_THAT(ReadHistory(dir.path()),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("history.jsonl, line 3 is not an")))
        << line;
  }
}

TEST(History, AMetricMayNotHaveTheNameOfAColumn) {
  const TempDir dir;
  const History history{.records = {{.logs = {{"loss", 1}, {"step", 2}}}}};
  EXPECT_THAT(AppendToHistory(dir.path(), history),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'step'")));
}

TEST(History, NumbersAreTheShortestThatReadTheSame) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(static_cast<float>(0.1)), "0.10000000149011612");
  EXPECT_EQ(NumberText(1e-5), "1e-05");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace estimator
