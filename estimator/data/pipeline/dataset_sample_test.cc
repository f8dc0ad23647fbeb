// SampleFromDatasets and ChooseFromDatasets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using Numbers = std::vector<int64_t>;

Numbers Values(const Dataset& dataset, int limit = 100000) {
  Numbers values;
  const auto iterator = dataset.MakeIterator();
  EST_EXPECT_OK(iterator);
  if (!iterator.ok()) return values;
  for (int i = 0; i < limit; ++i) {
    const auto element = (*iterator)->Next();
    EST_EXPECT_OK(element);
    if (!element.ok() || !element->has_value()) break;
    values.push_back((*element)->features.Only()->scalar<int64_t>());
  }
  return values;
}
// `count` times the number, or without end.
Dataset Only(int64_t number, int64_t count = -1) {
  return Dataset::Range(number, number + 1).Repeat(count);
}
Dataset Choices(std::initializer_list<int64_t> numbers) {
  return Dataset::FromTensorSlices(
      {.features = Array::Of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers),
       .labels = {}});
}

TEST(SampleFromDatasets, DrawsInProportionToTheWeights) {
  constexpr int kDraws = 20000;
  const Numbers values = Values(
      Dataset::SampleFromDatasets({Only(0), Only(1), Only(2), Only(3)}, {1, 0, 5, 2}, {.seed = 3}),
      kDraws);
  std::map<int64_t, int> counts;
  for (const int64_t value : values) ++counts[value];
  EXPECT_EQ(counts.count(1), 0u);
  for (const auto& [value, expected] : std::map<int64_t, double>{{0, 1.0}, {2, 5.0}, {3, 2.0}}) {
    const double p = expected / 8;
    // Five standard deviations of the binomial distribution.
    EXPECT_NEAR(counts[value], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << value;
  }
}

TEST(SampleFromDatasets, KeepsTheOrderOfEachDatasetAndLosesNothing) {
  const Dataset sampled = Dataset::SampleFromDatasets(
      {Dataset::Range(0, 5), Dataset::Range(10, 30), Dataset::Range(100, 101)});
  EXPECT_EQ(sampled.Cardinality(), 26);
  Numbers values = Values(sampled);
  const auto part = [&values](int64_t begin, int64_t end) {
    Numbers of_part;
    for (const int64_t v : values) {
      if (v >= begin && v < end) of_part.push_back(v);
    }
    return of_part;
  };
  EXPECT_EQ(part(0, 5), Values(Dataset::Range(0, 5)));
  EXPECT_EQ(part(10, 30), Values(Dataset::Range(10, 30)));
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.size(), 26u);
}

TEST(SampleFromDatasets, EndsWithTheFirstDatasetIfAsked) {
  const Dataset sampled = Dataset::SampleFromDatasets({Only(0, 3), Only(1)}, {},
                                                      {.seed = 5, .stop_on_empty_dataset = true});
  const Numbers values = Values(sampled);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), 3);
  EXPECT_EQ(sampled.Cardinality(), -1);
  EXPECT_EQ(Dataset::SampleFromDatasets({Only(0, 3), Only(1)}).Cardinality(), Dataset::kInfinite);
}

TEST(SampleFromDatasets, DependsOnTheSeedAndOnThePassIfAsked) {
  const auto sample = [](const SampleFromDatasetsOptions& options) {
    return Dataset::SampleFromDatasets({Only(0, 30), Only(1, 30)}, {}, options);
  };
  EXPECT_EQ(Values(sample({.seed = 1})), Values(sample({.seed = 1})));
  EXPECT_NE(Values(sample({.seed = 1})), Values(sample({.seed = 2})));
  const auto second = [](const Dataset& dataset) { return Values(dataset.Repeat(2).Skip(60)); };
  EXPECT_EQ(second(sample({.seed = 1})), Values(sample({.seed = 1})));
  EXPECT_NE(second(sample({.seed = 1, .rerandomize_each_iteration = true})),
            Values(sample({.seed = 1})));
  SetDefaultSeed(7);
  const Numbers seven = Values(sample({}));
  SetDefaultSeed(8);
  EXPECT_NE(Values(sample({})), seven);
  SetDefaultSeed(std::nullopt);
}

TEST(SampleFromDatasets, ChecksItsArguments) {
  const auto error = [](std::vector<double> weights) {
    return Dataset::SampleFromDatasets({Only(0), Only(1)}, std::move(weights)).MakeIterator();
  };
  EXPECT_THAT(error({1}),
              ErrorIs("SampleFromDatasets: there are 1 weights for 2 datasets; give one "
                      "weight for each, or none"));
  EXPECT_THAT(error({1, -2}), ErrorIs("SampleFromDatasets: weights[1] is -2; a weight must be "
                                      "finite and at least 0"));
  EXPECT_THAT(error({std::nan(""), 1}), ErrorHas("weights[0] is nan"));
  EXPECT_THAT(Dataset::SampleFromDatasets({}).MakeIterator(), ErrorHas("there are no datasets"));
  EXPECT_EQ(Values(Dataset::SampleFromDatasets({Only(0), Only(1)}, {0, 0})), Numbers{})
      << "as in TensorFlow";
  const double most = std::numeric_limits<double>::max();
  const Numbers large =
      Values(Dataset::SampleFromDatasets({Only(0, 20), Only(1, 20)}, {most, most}), 20);
  EXPECT_THAT(large, ::testing::Contains(0));
  EXPECT_THAT(large, ::testing::Contains(1));
}

TEST(ChooseFromDatasets, FollowsTheChoices) {
  // The example in tf.data.Dataset.choose_from_datasets' documentation (2.15).
  const Dataset choices = Dataset::Range(0, 3).Repeat(3);
  EXPECT_EQ(Values(Dataset::ChooseFromDatasets({Only(0), Only(1), Only(2)}, choices)),
            (Numbers{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const std::vector<Dataset> parts = {Dataset::Range(0, 2), Dataset::Range(10, 14)};
  const Dataset order = Choices({0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(Values(Dataset::ChooseFromDatasets(parts, order)), (Numbers{0, 10, 1, 11}));
  EXPECT_EQ(Values(Dataset::ChooseFromDatasets(parts, order, {.stop_on_empty_dataset = false})),
            (Numbers{0, 10, 1, 11, 12, 13}));
  EXPECT_EQ(Values(Dataset::ChooseFromDatasets(parts, Only(1), {.stop_on_empty_dataset = true})),
            (Numbers{10, 11, 12, 13}));
}

TEST(ChooseFromDatasets, NamesAChoiceThatIsNone) {
  const auto iterator =
      Dataset::ChooseFromDatasets({Only(0), Only(1)}, Choices({0, 2})).MakeIterator().value();
  EST_ASSERT_OK(iterator->Next());
  EXPECT_THAT(
      iterator->Next(),
      ErrorIs("ChooseFromDatasets: element 1 of FromTensorSlices of choice_dataset is 2; it "
              "must be in [0, 2), the number of datasets"));
  EXPECT_THAT(Dataset::ChooseFromDatasets({Only(0)}, Choices({0}).Batch(1)).MakeIterator(),
              ErrorIs("ChooseFromDatasets: the elements of choice_dataset are features i64 [?]; "
                      "they must be one i64 scalar"));
  EXPECT_THAT(Dataset::ChooseFromDatasets({}, Choices({0})).MakeIterator(),
              ErrorHas("there are no datasets"));
}

}  // namespace
}  // namespace estimator
