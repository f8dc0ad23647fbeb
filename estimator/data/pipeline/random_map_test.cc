// Map with a function that draws random numbers: the same for any number of threads and after a
// resume (dataset_resume_test), and other ones in each pass.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

// Replaces each element by an integer that is drawn.
absl::StatusOr<Element> Draw(const Element& /*element*/, RandomStream& random) {
  return Element{.features = Array::Scalar<int64_t>(random.UniformInt(0, int64_t{1} << 40)),
                 .labels = {}};
}

Dataset Indexed(int64_t size = 50) { return Dataset::Range(0, size); }
Dataset Stream() {
  return Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
    if (i >= 50) return std::nullopt;
    return Element{.features = Array::Scalar<int64_t>(i), .labels = {}};
  });
}

std::vector<int64_t> Values(const Dataset& dataset) {
  std::vector<int64_t> values;
  const auto iterator = dataset.MakeIterator().value();
  while (const std::optional<Element> element = iterator->Next().value()) {
    const Array array = element->features.Only().value();
    for (const int64_t value : array.values<int64_t>()) values.push_back(value);
  }
  return values;
}

size_t NumDifferent(const std::vector<int64_t>& values) {
  return std::set<int64_t>(values.begin(), values.end()).size();
}

TEST(RandomMap, EveryElementHasNumbersOfItsOwn) {
  EXPECT_EQ(NumDifferent(Values(Indexed().Map(Draw))), 50u);
}

TEST(RandomMap, DrawsTheSameForAnyNumberOfThreadsAndAnyKindOfInput) {
  const std::vector<int64_t> expected = Values(Indexed().Map(Draw));
  for (const int num_parallel_calls : {1, 2, 7, kAutotune}) {
    const MapOptions options = {.num_parallel_calls = num_parallel_calls};
    EXPECT_EQ(Values(Indexed().Map(Draw, options)), expected) << num_parallel_calls;
    EXPECT_EQ(Values(Stream().Map(Draw, options)), expected) << num_parallel_calls;
    EXPECT_EQ(Values(Indexed().Map(Draw, options).Batch(8).Prefetch(2)), expected)
        << num_parallel_calls;
  }
}

TEST(RandomMap, AnotherPassHasOtherNumbers) {
  EXPECT_EQ(NumDifferent(Values(Indexed().Map(Draw).Repeat(3))), 150u);
  EXPECT_EQ(NumDifferent(Values(Indexed().Repeat(3).Map(Draw))), 150u);
  EXPECT_EQ(NumDifferent(Values(Indexed().Shuffle(50).Repeat(3).Map(Draw))), 150u);
}

TEST(RandomMap, ShardsDrawTheNumbersOfTheWholeInput) {
  const std::vector<int64_t> whole = Values(Indexed().Map(Draw));
  const auto as_is = [](const Element& element) { return element; };
  for (const int num_parallel_calls : {1, 3}) {
    const MapOptions options = {.num_parallel_calls = num_parallel_calls};
    for (const Dataset& input : {Indexed(), Stream()}) {
      std::vector<int64_t> joined(whole.size());
      for (int64_t host = 0; host < 2; ++host) {
        const auto part = Values(input.Shard(2, host, 5).Map(as_is, options).Map(Draw, options));
        ASSERT_EQ(part.size(), 25u);
        for (size_t i = 0; i < part.size(); ++i)
          joined[(i / 5 * 2 + static_cast<size_t>(host)) * 5 + i % 5] = part[i];
      }
      EXPECT_EQ(joined, whole);
    }
  }
  // Take keeps its beginning.
  EXPECT_EQ(Values(Indexed().Skip(3).Take(9).Map(Draw)),
            std::vector<int64_t>(whole.begin(), whole.begin() + 9));
}

TEST(RandomMap, ACacheAfterItKeepsTheNumbersOfTheFirstPass) {
  EXPECT_EQ(NumDifferent(Values(Indexed().Map(Draw).Cache().Repeat(3))), 50u);
}

TEST(RandomMap, EachDatasetOfAnInterleaveHasNumbersOfItsOwn) {
  const Dataset dataset = Indexed(5).Interleave(
      [](const Element&) -> absl::StatusOr<Dataset> { return Indexed(10).Map(Draw); },
      {.cycle_length = 2});
  EXPECT_EQ(NumDifferent(Values(dataset)), 50u);
}

TEST(RandomMap, TheSeedIsTheGivenOneOrFollowsFromTheRuns) {
  const std::vector<int64_t> seven = Values(Indexed().Map(Draw, {.seed = 7}));
  EXPECT_EQ(Values(Indexed().Map(Draw, {.seed = 7})), seven);
  EXPECT_NE(Values(Indexed().Map(Draw, {.seed = 8})), seven);
  SetDefaultSeed(1);
  const std::vector<int64_t> one = Values(Indexed().Map(Draw));
  SetDefaultSeed(2);
  const std::vector<int64_t> two = Values(Indexed().Map(Draw));
  SetDefaultSeed(std::nullopt);
  EXPECT_NE(one, two);
  EXPECT_EQ(Values(Indexed().Map(Draw)), one) << "1 is the default";
}

TEST(RandomMap, TwoInAPipelineDrawOtherNumbers) {
  const auto append = [](const Element& element, RandomStream& random) -> absl::StatusOr<Element> {
    const int64_t before = element.features.Only().value().data<int64_t>()[0];
    EXPECT_NE(random.UniformInt(0, int64_t{1} << 40), before);
    return element;
  };
  EXPECT_EQ(NumDifferent(Values(Indexed().Map(Draw).Map(append))), 50u);
}

// Replaces each element by two seeds, as for two functions of image/.
absl::StatusOr<Element> DrawSeeds(const Element& /*element*/, RandomStream& random) {
  const std::array<int64_t, 2> first = random.NextSeed(), second = random.NextSeed();
  return Element{.features = Array::Of<int64_t>({4}, {first[0], first[1], second[0], second[1]}),
                 .labels = {}};
}

TEST(RandomMap, SeedsAreNewForEachCallAndElementAndPass) {
  const std::vector<int64_t> seeds = Values(Indexed().Map(DrawSeeds).Repeat(3));
  EXPECT_EQ(NumDifferent(seeds), 50u * 3 * 4);
  EXPECT_EQ(seeds, Values(Indexed().Map(DrawSeeds, {.num_parallel_calls = 7}).Repeat(3)));
  EXPECT_EQ(NumDifferent(Values(Indexed().Shuffle(50).Repeat(3).Map(DrawSeeds))), 50u * 3 * 4);
}

TEST(RandomMap, SeedsAreTheSameAfterAResumeInAnyPass) {
  const Dataset dataset =
      Indexed().Shuffle(50).Map(DrawSeeds, {.num_parallel_calls = 3}).Repeat(3).Prefetch(4);
  const std::vector<int64_t> all = Values(dataset);
  for (const size_t num_read : {0u, 1u, 49u, 50u, 77u, 149u}) {
    const auto first = dataset.MakeIterator().value();
    for (size_t i = 0; i < num_read; ++i) EST_ASSERT_OK(first->Next());
    const auto second = dataset.MakeIterator().value();
    EST_ASSERT_OK(second->RestoreState(first->SaveState().value()));
    std::vector<int64_t> rest;
    while (const std::optional<Element> element = second->Next().value()) {
      const Array seeds = element->features.Only().value();
      rest.insert(rest.end(), seeds.values<int64_t>().begin(), seeds.values<int64_t>().end());
    }
    EXPECT_EQ(rest,
              std::vector<int64_t>(all.begin() + static_cast<ptrdiff_t>(4 * num_read), all.end()))
        << num_read;
  }
}

TEST(RandomMap, ResumesUnderAnotherSeedWithTheNumbersOfTheSavedRun) {
  const auto first = Indexed().Map(Draw, {.seed = 1}).MakeIterator().value();
  EST_ASSERT_OK(first->Next());
  const auto second = Indexed().Map(Draw, {.seed = 2}).MakeIterator().value();
  EST_ASSERT_OK(second->RestoreState(first->SaveState().value()));
  for (int i = 0; i < 49; ++i) {
    EXPECT_EQ(second->Next().value()->features.Only().value().data<int64_t>()[0],
              first->Next().value()->features.Only().value().data<int64_t>()[0]);
  }
}

TEST(RandomMap, ASeedForAFunctionThatDrawsNothingIsAnErrorWithTheCure) {
  const Dataset dataset = Indexed().Map(
      [](const Element& element) -> absl::StatusOr<Element> { return element; }, {.seed = 7});
  EXPECT_THAT(dataset.MakeIterator().status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("let it take a RandomStream& after the element")));
}

// A lambda with a generator of its own would draw other numbers after a resume. Map does not
// compile with it.
TEST(RandomMap, AFunctionThatChangesItsCapturesIsNotAMapFunction) {
  const auto own_generator =
      [random = std::mt19937(7)](const Element& element) mutable -> absl::StatusOr<Element> {
    random();
    return element;
  };
  const auto keyed = [](const Element& element, RandomStream&) -> absl::StatusOr<Element> {
    return element;
  };
  static_assert(internal::IsStatefulMapFn<std::remove_const_t<decltype(own_generator)>>);
  static_assert(!internal::IsStatefulMapFn<std::remove_const_t<decltype(keyed)>>);
  static_assert(!internal::IsStatefulMapFn<decltype(&Draw)>);
  static_assert(!internal::IsStatefulMapFn<MapFunction>);
}

}  // namespace
}  // namespace estimator
