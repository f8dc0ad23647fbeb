// What a pipeline tells of itself: the time of its stages, the size of an epoch, advice.
#include "estimator/data/pipeline/pipeline_times.h"

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/sources/file_datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

absl::StatusOr<Element> Unchanged(const Element& element) { return element; }

// Takes far longer than any other stage.
absl::StatusOr<Element> Slow(const Element& element) {
  volatile double sum = 0;
  for (int i = 0; i < 200000; ++i) sum = sum + i;
  return element;
}

bool AlwaysTrue(const Element&) { return true; }

std::vector<std::string> StageNames(const std::vector<StageTime>& stages) {
  std::vector<std::string> names;
  for (const StageTime& stage : stages) names.push_back(stage.stage);
  return names;
}

TEST(PipelineTimes, TheSlowestStageIsTheSlowFunction) {
  for (const int calls : {1, 2}) {
    const auto iterator =
        Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
          return Element{.features = Array::Scalar<int64_t>(i), .labels = {}};
        })
            .Map(Slow, {.num_parallel_calls = calls})
            .Filter([](const Element& e) { return AlwaysTrue(e); })
            .Take(50)
            .Batch(5)
            .Prefetch(2)
            .MakeIterator();
    EST_ASSERT_OK(iterator);
    while ((*iterator)->Next()->has_value()) {
    }
    const std::vector<StageTime> stages = (*iterator)->StageTimes();
    EXPECT_THAT(StageNames(stages),
                ElementsAre("Generator", "Map", "Filter", "Take(50)", "Batch(5)", "Prefetch(2)"));
    const auto slowest = std::max_element(
        stages.begin(), stages.end(),
        [](const StageTime& a, const StageTime& b) { return a.seconds < b.seconds; });
    EXPECT_EQ(slowest->stage, "Map");
    EXPECT_THAT(slowest->advice, Not(IsEmpty()));
  }
}

TEST(PipelineTimes, AreMeasuredAfterARestoreToo) {
  const Dataset dataset =
      Dataset::Range(0, 20).Filter([](const Element& e) { return AlwaysTrue(e); });
  const auto iterator = dataset.MakeIterator();
  EST_ASSERT_OK(iterator);
  EST_ASSERT_OK((*iterator)->Next());
  const absl::StatusOr<std::string> state = (*iterator)->SaveState();
  EST_ASSERT_OK(state);
  EST_ASSERT_OK((*iterator)->RestoreState(*state));
  const double before = (*iterator)->StageTimes()[0].seconds;
  while ((*iterator)->Next()->has_value()) {
  }
  EXPECT_GT((*iterator)->StageTimes()[0].seconds, before);
}

TEST(ExamplesPerEpoch, CountsTheRowsOfOnePass) {
  const Dataset data = Dataset::Range(0, 100);
  EXPECT_EQ(data.ExamplesPerEpoch(), 100);
  EXPECT_EQ(data.Map(Unchanged).Shuffle(10).Repeat().Batch(32).Prefetch(2).ExamplesPerEpoch(), 100);
  EXPECT_EQ(data.Repeat(3).Batch(7).ExamplesPerEpoch(), 100);
  EXPECT_EQ(data.Batch(32).Repeat().ExamplesPerEpoch(), 100);
  EXPECT_EQ(data.Batch(32, {.drop_remainder = true}).Repeat().ExamplesPerEpoch(), 96);
  // No example is lost at the end of a pass.
  EXPECT_EQ(data.Repeat().Batch(32, {.drop_remainder = true}).ExamplesPerEpoch(), 100);
  EXPECT_EQ(data.Take(10).Repeat().Batch(4).ExamplesPerEpoch(), 10);
  EXPECT_EQ(data.Shard(4, 1).Repeat().Batch(4).ExamplesPerEpoch(), 25);
  EXPECT_EQ(data.Repeat().Batch(10).Take(5).ExamplesPerEpoch(), 100);
  EXPECT_EQ(Dataset::Concatenate({data, data.Take(5)}).ExamplesPerEpoch(), 105);
}

TEST(ExamplesPerEpoch, IsNotKnownWhereItDependsOnTheData) {
  const Dataset data = Dataset::Range(0, 100);
  EXPECT_EQ(data.Filter([](const Element& e) { return AlwaysTrue(e); }).Batch(2).ExamplesPerEpoch(),
            -1);
  EXPECT_EQ(data.FlatMap([](const Element&) { return Dataset::Range(0, 2); }).ExamplesPerEpoch(),
            -1);
}

TEST(DatasetAdvice, NamesAMissingPrefetchAndASmallShuffle) {
  const Dataset data = Dataset::Range(0, 100);
  EXPECT_THAT(data.Shuffle(100).Prefetch(2).Advice(), IsEmpty());
  EXPECT_THAT(data.Shuffle(100).Advice(), ElementsAre(HasSubstr("Prefetch(kAutotune)")));
  EXPECT_THAT(data.Shuffle(5).Prefetch(2).Advice(),
              ElementsAre(HasSubstr("Shuffle(5) mixes only 5 of 100 examples")));
}

TEST(DatasetAdvice, NamesManySmallFilesThatEachEpochReadsAgain) {
  const TempDir dir;
  std::vector<std::string> files;
  for (int i = 0; i < 40; ++i) {
    files.push_back(dir.File(std::to_string(i)));
    EST_ASSERT_OK(WriteFileAtomically(files.back(), "a line\n"));
  }
  const Dataset lines = TextLineDataset(files);
  EXPECT_THAT(lines.Prefetch(2).Advice(),
              ElementsAre(HasSubstr("reads 40 files of 7 B on average"), HasSubstr("add Cache()")));
  EXPECT_THAT(lines.Cache().Prefetch(2).Advice(), Not(Contains(HasSubstr("add Cache()"))));
}

}  // namespace
}  // namespace estimator
