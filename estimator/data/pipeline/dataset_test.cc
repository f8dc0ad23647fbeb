#include "estimator/data/pipeline/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using Numbers = std::vector<int64_t>;

// All values of a dataset of i64 arrays, batches flattened; at most `limit` elements.
Numbers Values(const Dataset& dataset, int limit = 1000) {
  Numbers values;
  const auto iterator = dataset.MakeIterator();
  EST_EXPECT_OK(iterator);
  if (!iterator.ok()) return values;
  for (int i = 0; i < limit; ++i) {
    const auto element = (*iterator)->Next();
    EST_EXPECT_OK(element);
    if (!element.ok() || !element->has_value()) break;
    const Array array = (*element)->features.Only().value();
    for (const int64_t value : array.values<int64_t>()) values.push_back(value);
  }
  return values;
}

absl::Status FirstError(const Dataset& dataset) {
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return iterator.status();
  while (true) {
    const auto element = (*iterator)->Next();
    if (!element.ok()) return element.status();
    if (!element->has_value()) return absl::OkStatus();
  }
}

Element Number(int64_t value) { return {.features = Array::Scalar<int64_t>(value), .labels = {}}; }
int64_t NumberOf(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0];
}
absl::StatusOr<Element> TimesTen(const Element& element) { return Number(10 * NumberOf(element)); }
absl::StatusOr<bool> IsEven(const Element& element) { return NumberOf(element) % 2 == 0; }
Numbers UpTo(int64_t n) {
  Numbers values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Dataset, SlicesHaveOneElementPerRow) {
  const Dataset dataset =
      Dataset::FromTensorSlices({.features = {{"x", Array::Of<float>({2, 2}, {1, 2, 3, 4})}},
                                 .labels = Array::Of<int32_t>({2}, {7, 8})});
  EXPECT_EQ(dataset.Cardinality(), 2);
  const auto iterator = dataset.MakeIterator().value();
  iterator->Next().value();
  const Element second = iterator->Next().value().value();
  EXPECT_EQ(Compare(second.features.at("x"), Array::Of<float>({2}, {3, 4})).report, "");
  EXPECT_EQ(second.labels.Only()->scalar<int32_t>(), 8);
  EXPECT_FALSE(iterator->Next().value().has_value());
  EXPECT_FALSE(iterator->Next().value().has_value());
}

TEST(Dataset, SlicesWithDifferentNumbersOfRowsAreRefused) {
  const Dataset dataset = Dataset::FromTensorSlices(
      {.features = {{"a", Array(DType::kFloat32, {3})}, {"b", Array(DType::kFloat32, {4})}},
       .labels = {}});
  EXPECT_THAT(dataset.Batch(2).MakeIterator(),
              ErrorIs("FromTensorSlices: features[\"b\"] has 4 rows (f32 [4]), but features[\"a\"] "
                      "has 3; every "
                      "array needs one row for each example, on axis 0"));
}

// Fixed bug: labels were called array "".
TEST(Dataset, SlicesThatHaveNoRowsAreNamedAsFeaturesOrLabels) {
  const auto error = [](const Array& features, const Array& labels) {
    return FirstError(Dataset::FromTensorSlices({.features = features, .labels = labels}));
  };
  const Array three(DType::kFloat32, {3});
  EXPECT_THAT(error(three, Array::Scalar(1.0f)),
              ErrorIs("FromTensorSlices: labels is a scalar, f32 []; it needs one row for each "
                      "example, on axis 0"));
  EXPECT_THAT(error(three, Array(DType::kInt32, {2})),
              ErrorIs("FromTensorSlices: labels has 2 rows (i32 [2]), but features has 3; every "
                      "array needs one "
                      "row for each example, on axis 0"));
  EXPECT_THAT(error(Array::Of<float>({3}, {1, 2}), three),
              ErrorHas("features is an empty array, default-constructed"));
}

TEST(Dataset, TakeSkipAndShardSelectElements) {
  const Dataset ten = Dataset::Range(0, 10);
  EXPECT_EQ(Values(ten.Take(3)), (Numbers{0, 1, 2}));
  EXPECT_EQ(Values(ten.Take(-1)), UpTo(10));
  EXPECT_EQ(Values(ten.Skip(7)), (Numbers{7, 8, 9}));
  EXPECT_EQ(Values(ten.Skip(11)), Numbers{});
  EXPECT_EQ(Values(ten.Shard(3, 1)), (Numbers{1, 4, 7}));
  EXPECT_EQ(ten.Shard(3, 0).Cardinality(), 4);
  EXPECT_EQ(Values(ten.Filter(IsEven).Shard(2, 1)), (Numbers{2, 6}));
  EXPECT_EQ(Values(ten.Filter(IsEven).Skip(1).Take(2)), (Numbers{2, 4}));
  EXPECT_EQ(Values(ten.Repeat().Shard(3, 1).Take(5)), (Numbers{1, 4, 7, 0, 3}));
}

TEST(Dataset, ShardTakesBlocks) {
  const Dataset ten = Dataset::Range(0, 10);
  EXPECT_EQ(Values(ten.Shard(2, 0, 3)), (Numbers{0, 1, 2, 6, 7, 8}));
  EXPECT_EQ(Values(ten.Shard(2, 1, 3)), (Numbers{3, 4, 5, 9}));
  EXPECT_EQ(ten.Shard(2, 1, 3).Cardinality(), 4);
  EXPECT_EQ(Values(ten.Filter(IsEven).Shard(2, 1, 2)), (Numbers{4, 6}));
  // Together, the batches of all shards are those of one.
  EXPECT_EQ(Values(ten.Repeat().Shard(2, 1, 4), 8), (Numbers{4, 5, 6, 7, 2, 3, 4, 5}));
  EXPECT_EQ(ten.Shard(1, 0, 4).Describe(), ten.Describe()) << "one shard adds no step";
  EXPECT_THAT(ten.Shard(2, 0, 0).MakeIterator(),
              ErrorIs("Shard: block is 0; it must be at least 1"));
  // What the shards of an endless dataset get of a pass is a pass.
  int64_t examples = 0;
  for (int64_t i = 0; i < 3; ++i) examples += ten.Repeat().Shard(3, i, 2).ExamplesPerEpoch();
  EXPECT_EQ(examples, 10);
}

TEST(Iterator, SkipsElementsWithoutReadingIndexedOnes) {
  int64_t num_read = 0;
  const Dataset data = Dataset::Range(0, 100)
                           .Shuffle(100, {.seed = 1})
                           .Repeat()
                           .Shard(2, 1, 4)
                           .Map([&num_read](const Element& element) {
                             ++num_read;
                             return element;
                           })
                           .Batch(4)
                           .Prefetch(2);
  const std::unique_ptr<Iterator> all = *data.MakeIterator(), skipping = *data.MakeIterator();
  for (int i = 0; i < 40; ++i) EST_ASSERT_OK(all->Next());
  num_read = 0;
  EXPECT_EQ(skipping->Skip(40).value_or(-1), 40);
  EXPECT_LE(num_read, 160);
  EXPECT_EQ((**skipping->Next()).ToString(), (**all->Next()).ToString());
  const std::unique_ptr<Iterator> ten = *Dataset::Range(0, 10).Batch(4).MakeIterator();
  EXPECT_EQ(ten->Skip(5).value_or(-1), 3);
}

TEST(Dataset, RepeatRunsAgain) {
  EXPECT_EQ(Values(Dataset::Range(0, 2).Repeat(3)), (Numbers{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Values(Dataset::Range(0, 2).Repeat(), 5), (Numbers{0, 1, 0, 1, 0}));
  EXPECT_EQ(Values(Dataset::Range(0, 2).Repeat(0)), Numbers{});
  EXPECT_EQ(Values(Dataset::Range(0, 0).Repeat()), Numbers{}) << "empty for ever is empty";
}

TEST(Dataset, CardinalityIsKnownWithoutReading) {
  const Dataset ten = Dataset::Range(0, 10);
  EXPECT_EQ(ten.Repeat().Cardinality(), Dataset::kInfinite);
  EXPECT_EQ(ten.Repeat(3).Batch(4).Cardinality(), 8);
  EXPECT_EQ(ten.Batch(4, {.drop_remainder = true}).Cardinality(), 2);
  EXPECT_EQ(ten.Filter(IsEven).Cardinality(), -1);
  EXPECT_EQ(ten.Repeat().Take(5).Cardinality(), 5);
  EXPECT_EQ(Dataset::Zip(ten.Repeat(), ten).Cardinality(), 10);
  EXPECT_EQ(Dataset::Concatenate({ten, ten}).Cardinality(), 20);
}

// Their counts overflowed: an input without end had none, or an unknown number of elements.
TEST(Dataset, CountsNearTheLargestNumberDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Dataset endless = Dataset::Range(0, kMost);
  EXPECT_EQ(endless.Batch(32).Cardinality(), kMost / 32 + 1);
  EXPECT_EQ(Values(endless.Batch(2), 2), UpTo(4));
  EXPECT_EQ(endless.PaddedBatch(32).Cardinality(), kMost / 32 + 1);
  EXPECT_EQ(Values(Dataset::Range(0, 5).Batch(kMost)), UpTo(5));
  EXPECT_EQ(Dataset::Range(0, 10).Repeat(kMost).Cardinality(), kMost);
  EXPECT_EQ(Dataset::Concatenate({endless, endless}).Cardinality(), kMost);
  EXPECT_EQ(Dataset::Range(-kMost - 1, kMost).Cardinality(), kMost);
}

TEST(Dataset, BatchKeepsOrDropsTheRemainder) {
  const auto iterator = Dataset::Range(0, 5).Batch(2).MakeIterator().value();
  std::vector<std::string> types;
  while (const auto batch = iterator->Next().value()) types.push_back(batch->ToString());
  EXPECT_EQ(types,
            (std::vector<std::string>{"features i64 [2]", "features i64 [2]", "features i64 [1]"}));
  EXPECT_EQ(Values(Dataset::Range(0, 5).Batch(2, {.drop_remainder = true})), UpTo(4));
  EXPECT_EQ(Values(Dataset::Range(0, 5).Repeat(2).Batch(3, {.drop_remainder = true})),
            (Numbers{0, 1, 2, 3, 4, 0, 1, 2, 3}));
}

TEST(Dataset, GatheredBatchesEqualStackedBatches) {
  Array images(DType::kFloat32, {50, 7, 5});
  for (int64_t i = 0; i < images.num_elements(); ++i) images.data<float>()[i] = 0.5f * i;
  Array names(DType::kString, {50});
  for (int64_t i = 0; i < 50; ++i) names.data<std::string>()[i] = absl::StrCat("n", i);
  const Dataset source = Dataset::FromTensorSlices(
      {.features = {{"image", images}, {"name", names}}, .labels = Array(DType::kInt32, {50})});
  const auto keep = [](const Element&) { return absl::StatusOr<bool>(true); };
  const auto order = [](const Dataset& d) { return d.Repeat(3).Shuffle(20, {.seed = 3}); };
  const auto fast = order(source).Batch(8).MakeIterator().value();
  const auto slow = order(source).Filter(keep).Batch(8).MakeIterator().value();
  while (true) {
    const auto expected = slow->Next().value();
    const auto actual = fast->Next().value();
    ASSERT_EQ(expected.has_value(), actual.has_value());
    if (!expected) break;
    EXPECT_TRUE(SameBits(actual->features.at("image"), expected->features.at("image")));
    EXPECT_TRUE(SameBits(actual->features.at("name"), expected->features.at("name")));
    EXPECT_TRUE(SameBits(actual->labels.at(""), expected->labels.at("")));
  }
}

TEST(Dataset, ShapesThatDifferInABatchAreNamed) {
  const Dataset ragged = Dataset::Range(1, 4).Map([](const Element& e) -> absl::StatusOr<Element> {
    return Element{.features = {{"tokens", Array(DType::kInt64, {NumberOf(e)})}}, .labels = {}};
  });
  EXPECT_THAT(
      FirstError(ragged.Batch(3)),
      ErrorIs(
          "Batch: features[\"tokens\"] differs within a batch: i64 [2] in element 1 of Range(1, 4) "
          "(element 1 of the batch), i64 [1] in element 0 of Range(1, 4) (element 0); make them "
          "equal in Map, or use PaddedBatch"));
}

TEST(Dataset, PaddedBatchPadsToTheLongest) {
  const Dataset ragged = Dataset::Range(1, 4).Map([](const Element& e) -> absl::StatusOr<Element> {
    Array tokens(DType::kInt64, {NumberOf(e), 1});
    std::fill_n(tokens.data<int64_t>(), tokens.num_elements(), NumberOf(e));
    return Element{.features = {{"t", tokens}}, .labels = {}};
  });
  EXPECT_EQ(Values(ragged.PaddedBatch(3, {.padding_values = {{"t", -1}}})),
            (Numbers{1, -1, -1, 2, 2, -1, 3, 3, 3}));
  EXPECT_EQ(
      Values(ragged.PaddedBatch(2, {.padded_shapes = {{"t", {3, 2}}}, .drop_remainder = true})),
      (Numbers{1, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0}));
  EXPECT_THAT(
      FirstError(ragged.PaddedBatch(3, {.padded_shapes = {{"t", {2, 1}}}})),
      ErrorHas(
          "element 2: features[\"t\"] is i64 [3,1], larger than the padded shape [2,1] in axis 0"));
}

TEST(Dataset, PaddedBatchRefusesAPaddingThatTheArrayCannotHold) {
  const Dataset numbers = Dataset::Range(1, 4).Map([](const Element& e) -> absl::StatusOr<Element> {
    return Element{.features = {{"t", Array(DType::kUint8, {NumberOf(e)})}}, .labels = {}};
  });
  EXPECT_THAT(FirstError(numbers.PaddedBatch(3, {.padding_values = {{"t", -1}}})),
              ErrorIs("PaddedBatch: features[\"t\"]: the padding -1 cannot be represented in "
                      "uint8; give another value"));
}

TEST(Dataset, PaddedBatchLosesNoArraySilently) {
  const Dataset dataset =
      Dataset::Range(0, 3).FlatMap([](const Element& e) -> absl::StatusOr<Dataset> {
        Element named{.features = {{"t", *e.features.Only()}}, .labels = {}};
        if (NumberOf(e) == 2) named.features["extra"] = Array::Scalar<int64_t>(1);
        return Dataset::FromTensors(named);
      });
  EXPECT_THAT(FirstError(dataset.PaddedBatch(3)),
              ErrorHas("element 2 has features[\"extra\"], but element 0"));
  EXPECT_THAT(FirstError(dataset.PaddedBatch(2, {.padding_values = {{"tt", 1}}})),
              ErrorHas("padding_values names \"tt\", but the elements are t i64 []"));
  EXPECT_THAT(FirstError(dataset.PaddedBatch(2, {.padded_shapes = {{"tt", {}}}})),
              ErrorHas("padded_shapes names \"tt\""));
}

TEST(Dataset, ParallelMapKeepsTheOrder) {
  const Dataset stream =
      Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
        return i < 100 ? std::optional<Element>(Number(i)) : std::nullopt;
      });
  Numbers expected = UpTo(100);
  for (int64_t& value : expected) value *= 10;
  EXPECT_EQ(Values(stream.Map(TimesTen)), expected);
  EXPECT_EQ(Values(stream.Map(TimesTen, {.num_parallel_calls = 4})), expected);
  EXPECT_EQ(Values(Dataset::Range(0, 100).Map(TimesTen, {.num_parallel_calls = 4})), expected);
  EXPECT_EQ(Values(Dataset::Range(0, 100).Map(TimesTen, {.num_parallel_calls = 4}).Batch(7)),
            expected);
  EXPECT_EQ(
      Values(Dataset::Range(0, 100).Map(TimesTen, {.num_parallel_calls = kAutotune}).Prefetch(3)),
      expected);
}

TEST(Dataset, NumParallelCallsIsPositiveOrAutotune) {
  for (const int calls : {0, -2}) {
    EXPECT_THAT(Dataset::Range(0, 3).Map(TimesTen, {.num_parallel_calls = calls}).MakeIterator(),
                ErrorIs(absl::StrCat("Map: num_parallel_calls is ", calls,
                                     "; it must be at least 1, or kAutotune for the number of "
                                     "cores")));
  }
}

TEST(Dataset, PrefetchTakesAutotuneAndZero) {
  const Dataset range = Dataset::Range(0, 1000);
  EXPECT_EQ(Values(range.Prefetch(kAutotune), 2000), UpTo(1000));
  EXPECT_EQ(range.Prefetch(kAutotune).Describe(), "Range(0, 1000) > Prefetch(autotune)");
  EXPECT_EQ(Values(range.Prefetch(0), 2000), UpTo(1000));
  EXPECT_THAT(range.Prefetch(-2).MakeIterator(), ErrorHas("Prefetch: buffer_size is -2"));
}

// Fixed bug: the process was aborted.
TEST(Dataset, AnExceptionOfAMapFunctionIsAnErrorThatNamesTheElement) {
  for (const int threads : {1, 4}) {
    const Dataset dataset = Dataset::Range(0, 8).Map(
        [](const Element& e) -> absl::StatusOr<Element> {
          return Element{.features = e.features.at("image"), .labels = {}};
        },
        {.num_parallel_calls = threads});
    const absl::Status status = FirstError(dataset.Batch(4));
    EXPECT_THAT(status, ErrorHas("the function threw an exception: no array is named \"image\"; "
                                 "there is \"\"; the element is features i64 []"));
  }
}

// Fixed bug: the process was aborted, for all but Map.
TEST(Dataset, AnExceptionOfAnyFunctionIsAnErrorThatNamesTheElement) {
  const auto image = [](const Element& e) { return e.features.at("image"); };
  const auto filter = [&](const Element& e) -> absl::StatusOr<bool> { return image(e).valid(); };
  const auto expand = [&](const Element& e) -> absl::StatusOr<Dataset> {
    return Dataset::FromTensors(Element{.features = image(e), .labels = {}});
  };
  const auto generate = [&](int64_t i) -> absl::StatusOr<std::optional<Element>> {
    return i == 0 ? Number(0) : Element{.features = image(Number(i)), .labels = {}};
  };
  const std::string thrown =
      ": the function threw an exception: no array is named \"image\"; there is \"\"";
  const std::string of_number = thrown + "; the element is features i64 []";
  const Dataset range = Dataset::Range(0, 3), stream = Dataset::FromGenerator(generate);
  const std::vector<std::pair<Dataset, std::string>> cases = {
      {range.Filter(filter), "Filter: element 0 of Range(0, 3)" + of_number},
      {range.Interleave(expand, {}), "Interleave: element 0 of Range(0, 3)" + of_number},
      {range.FlatMap(expand), "Interleave: element 0 of Range(0, 3)" + of_number},
      {stream, "element 1 of FromGenerator" + thrown},
      {Dataset::FromGenerator(generate, 3), "element 1 of FromGenerator" + thrown}};
  for (const auto& [dataset, message] : cases) {
    for (const Dataset& read : {dataset, dataset.Prefetch(2)}) {
      EXPECT_THAT(FirstError(read), ErrorIs(::testing::StartsWith(message)));
    }
  }
}

// Fixed bug: the process was aborted.
TEST(Dataset, AShapeThatDoesNotFitIsAnErrorOfTheElement) {
  const Dataset dataset = Dataset::Range(0, 3).Map([](const Element& e) -> absl::StatusOr<Element> {
    return Element{.features = e.features.at("").Reshaped({2, 3}), .labels = {}};
  });
  EXPECT_THAT(FirstError(dataset),
              ErrorIs("Map: element 0 of Range(0, 3): the function threw an exception: cannot "
                      "reshape i64 [], 1 elements, to [2,3], 6 elements; the element is features "
                      "i64 []"));
}

TEST(Dataset, MapErrorsNameTheElementAndComeInOrder) {
  const auto fails_at_3 = [](const Element& e) -> absl::StatusOr<Element> {
    if (NumberOf(e) >= 3) return absl::InvalidArgumentError(absl::StrCat("bad ", NumberOf(e)));
    return e;
  };
  for (const int parallel : {1, 4}) {
    const Dataset mapped = Dataset::Range(0, 9).Map(fails_at_3, {.num_parallel_calls = parallel});
    for (const Dataset& dataset : {mapped, mapped.Prefetch(2), mapped.Batch(4)}) {
      EXPECT_THAT(FirstError(dataset), ErrorIs("Map: element 3 of Range(0, 9): bad 3"));
    }
    const auto iterator = mapped.MakeIterator().value();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(NumberOf(**iterator->Next()), i);
    EXPECT_FALSE(iterator->Next().ok());
    EXPECT_FALSE(iterator->Next().ok()) << "the error repeats";
    EXPECT_FALSE(iterator->SaveState().ok());
  }
}

TEST(Dataset, CacheReadsEachElementOnce) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto counted = [calls](const Element& e) -> absl::StatusOr<Element> {
    ++*calls;
    return e;
  };
  EXPECT_EQ(Values(Dataset::Range(0, 5).Map(counted).Cache().Repeat(3).Batch(4)).size(), 15u);
  EXPECT_EQ(*calls, 5) << "indexed";
  *calls = 0;
  EXPECT_EQ(Values(Dataset::Range(0, 5).Filter(IsEven).Map(counted).Cache().Repeat(3)),
            (Numbers{0, 2, 4, 0, 2, 4, 0, 2, 4}));
  EXPECT_EQ(*calls, 3) << "a stream";
}

TEST(Dataset, CacheKeepsRowsOfDifferentShapes) {
  const Dataset ragged = Dataset::Range(1, 4).Map([](const Element& e) -> absl::StatusOr<Element> {
    Array tokens(DType::kInt64, {NumberOf(e)});
    std::fill_n(tokens.data<int64_t>(), tokens.num_elements(), NumberOf(e));
    return Element{.features = tokens, .labels = {}};
  });
  EXPECT_EQ(Values(ragged.Cache().Repeat(2)), (Numbers{1, 2, 2, 3, 3, 3, 1, 2, 2, 3, 3, 3}));
}

TEST(Dataset, ShuffleIsAPermutationThatTheSeedDecides) {
  const Dataset ten = Dataset::Range(0, 100);
  for (const int64_t buffer : {100, 17}) {
    Numbers values = Values(ten.Shuffle(buffer, {.seed = 1}));
    EXPECT_EQ(values, Values(ten.Shuffle(buffer, {.seed = 1})));
    EXPECT_NE(values, Values(ten.Shuffle(buffer, {.seed = 2})));
    EXPECT_NE(values, UpTo(100));
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, UpTo(100));
  }
  EXPECT_EQ(Values(ten.Shuffle(1)), UpTo(100)) << "a buffer of one does not shuffle";
  Numbers stream = Values(ten.Filter(IsEven).Shuffle(10, {.seed = 1}));
  EXPECT_FALSE(std::is_sorted(stream.begin(), stream.end()));
  std::sort(stream.begin(), stream.end());
  EXPECT_EQ(stream, Values(ten.Filter(IsEven)));
}

TEST(Dataset, ShuffleReshufflesEachIterationUnlessToldNotTo) {
  const Dataset ten = Dataset::Range(0, 10);
  const auto halves = [](const Dataset& dataset) {
    const Numbers all = Values(dataset.Repeat(2));
    return std::pair(Numbers(all.begin(), all.begin() + 10), Numbers(all.begin() + 10, all.end()));
  };
  auto [first, second] = halves(ten.Shuffle(10, {.seed = 1}));
  EXPECT_NE(first, second);
  std::sort(second.begin(), second.end());
  EXPECT_EQ(second, UpTo(10));
  const auto [once, again] =
      halves(ten.Shuffle(10, {.seed = 1, .reshuffle_each_iteration = false}));
  EXPECT_EQ(once, again);
}

TEST(Dataset, ShuffleAfterRepeatGivesEveryElementAsOften) {
  const Numbers values = Values(Dataset::Range(0, 6).Repeat(5).Shuffle(6, {.seed = 4}));
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(std::count(values.begin(), values.end(), i), 5);
}

TEST(Dataset, DefaultSeedDecidesShufflesWithoutOne) {
  const Dataset ten = Dataset::Range(0, 50);
  SetDefaultSeed(7);
  const Numbers seven = Values(ten.Shuffle(50));
  EXPECT_EQ(seven, Values(ten.Shuffle(50)));
  EXPECT_NE(Values(ten.Shuffle(50).Shuffle(50)), Values(ten.Shuffle(50)));
  SetDefaultSeed(8);
  EXPECT_NE(seven, Values(ten.Shuffle(50)));
  SetDefaultSeed(std::nullopt);
}

TEST(Dataset, ZipPairsFeaturesWithLabelsAndEndsWithTheShorter) {
  const Dataset features = Dataset::Range(0, 3), labels = Dataset::Range(10, 20);
  for (const Dataset& zipped :
       {Dataset::Zip(features, labels),
        Dataset::Zip(features.Filter([](const Element&) { return absl::StatusOr<bool>(true); }),
                     labels)}) {
    const auto iterator = zipped.MakeIterator().value();
    int count = 0;
    while (const auto element = iterator->Next().value()) {
      EXPECT_EQ(element->features.Only()->scalar<int64_t>(), count);
      EXPECT_EQ(element->labels.Only()->scalar<int64_t>(), 10 + count);
      ++count;
    }
    EXPECT_EQ(count, 3);
  }
  EXPECT_THAT(
      FirstError(Dataset::Zip({features, labels})),
      ErrorIs("Zip: features is in dataset 0 (i64 []) and in dataset 1 (i64 []); rename one "
              "of them in Map"));
}

TEST(Dataset, ConcatenateRunsOneAfterTheOther) {
  const Dataset a = Dataset::Range(0, 2), b = Dataset::Range(5, 8);
  EXPECT_EQ(Values(Dataset::Concatenate({a, b})), (Numbers{0, 1, 5, 6, 7}));
  EXPECT_EQ(Values(Dataset::Concatenate({a, b.Filter(IsEven)})), (Numbers{0, 1, 6}));
  EXPECT_EQ(Values(Dataset::Concatenate({a, b}).Batch(2)), (Numbers{0, 1, 5, 6, 7}));
}

TEST(Dataset, InterleaveHasTensorFlowsOrder) {
  // The example in tf.data.Dataset.interleave's documentation (2.15).
  const Dataset dataset = Dataset::Range(1, 6).Interleave(
      [](const Element& e) -> absl::StatusOr<Dataset> { return Dataset::FromTensors(e).Repeat(6); },
      {.cycle_length = 2, .block_length = 4});
  EXPECT_EQ(Values(dataset), (Numbers{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3,
                                      3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5}));
}

TEST(Dataset, FlatMapJoinsDatasets) {
  const Dataset dataset = Dataset::Range(0, 4).FlatMap(
      [](const Element& e) -> absl::StatusOr<Dataset> { return Dataset::Range(0, NumberOf(e)); });
  EXPECT_EQ(Values(dataset), (Numbers{0, 0, 1, 0, 1, 2}));
}

TEST(Dataset, AnIteratorThatIsDroppedStopsItsThreads) {
  const Dataset dataset = Dataset::Range(0, 1000)
                              .Filter([](const Element&) { return absl::StatusOr<bool>(true); })
                              .Map(TimesTen, {.num_parallel_calls = 3})
                              .Repeat()
                              .Prefetch(2);
  for (int i = 0; i < 50; ++i) {
    const auto iterator = dataset.MakeIterator().value();
    if (i % 2 == 0) {
      EST_EXPECT_OK(iterator->Next());
    }
  }
}

TEST(Dataset, DescribesItself) {
  const Dataset range = Dataset::Range(0, 9);
  EXPECT_EQ(
      Dataset::Zip(range, range).Map(TimesTen).Shuffle(9).Repeat().Batch(4).Prefetch(2).Describe(),
      "Zip(Range(0, 9), Range(0, 9)) > Map > Shuffle(9) > Repeat > Batch(4) > Prefetch(2)");
}

TEST(Dataset, ErrorsOfBuildingAreKeptUntilTheIterator) {
  const Dataset dataset = Dataset::Range(0, 9).Batch(0).Map(TimesTen).Prefetch(2);
  EXPECT_THAT(dataset.MakeIterator(), ErrorIs("Batch: batch_size is 0; it must be at least 1 "
                                              "(params.batch_size is 0 if none is given for "
                                              "the mode)"));
  EXPECT_THAT(Dataset::Range(0, 9).Shard(2, 2).MakeIterator(),
              ErrorIs("Shard: index is 2 of 2 shards; it must be in [0, num_shards)"));
}

}  // namespace
}  // namespace estimator
