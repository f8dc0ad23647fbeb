// Every kind of pipeline, at every position: save, restore in a fresh iterator, and the rest is the
// same, element for element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/path.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Element> Twice(const Element& element) {
  Array array = element.features.begin()->second.Clone();
  for (int64_t& value : array.values<int64_t>()) value *= 2;
  return Element{.features = array, .labels = element.labels};
}
absl::StatusOr<Element> AddNoise(const Element& element, RandomStream& random) {
  Array array = element.features.begin()->second.Clone();
  for (int64_t& value : array.values<int64_t>()) value += 100 * random.UniformInt(0, 1 << 20);
  return Element{.features = array, .labels = element.labels};
}
absl::StatusOr<bool> NotDivisibleBy3(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0] % 3 != 0;
}
absl::StatusOr<bool> IsBelow9(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0] < 9;
}
absl::StatusOr<int64_t> Remainder7(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0] % 7;
}
Dataset Batch3(const Dataset& window) { return window.Batch(3); }
Dataset ShuffledWindow(const Dataset& window) { return window.Shuffle(3).Map(Twice); }
absl::StatusOr<Dataset> Countdown(const Element& element) {
  const int64_t n = element.features.begin()->second.data<int64_t>()[0];
  return Dataset::Range(0, n).Shuffle(10).Map(Twice);
}

Dataset Indexed() { return Dataset::Range(0, 23); }
Dataset Stream() {
  return Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
    if (i >= 23) return std::nullopt;
    return Element{.features = Array::Scalar<int64_t>(i), .labels = {}};
  });
}

struct Pipeline {
  std::string name;
  std::function<Dataset()> make;
};
void PrintTo(const Pipeline& pipeline, std::ostream* out) { *out << pipeline.name; }

std::vector<Pipeline> Pipelines() {
  std::vector<Pipeline> all;
  for (const bool indexed : {true, false}) {
    const auto add = [&](const std::string& name, std::function<Dataset(Dataset)> build) {
      all.push_back({absl::StrCat(indexed ? "Indexed" : "Stream", name),
                     [=] { return build(indexed ? Indexed() : Stream()); }});
    };
    add("Source", [](Dataset d) { return d; });
    add("Map", [](Dataset d) { return d.Map(Twice); });
    add("ParallelMap", [](Dataset d) { return d.Map(Twice, {.num_parallel_calls = 3}); });
    add("ParallelMapBatch",
        [](Dataset d) { return d.Map(Twice, {.num_parallel_calls = 3}).Batch(4); });
    add("RandomMap", [](Dataset d) { return d.Map(AddNoise).Repeat(3); });
    add("RepeatRandomMap",
        [](Dataset d) { return d.Repeat(2).Map(AddNoise, {.num_parallel_calls = 2}).Prefetch(3); });
    add("ShuffleRepeatRandomMapBatch", [](Dataset d) {
      return d.Shuffle(23).Repeat(3).Map(AddNoise, {.num_parallel_calls = 3}).Batch(4);
    });
    add("RandomMapShuffle", [](Dataset d) { return d.Map(AddNoise).Shuffle(5).Repeat(2); });
    add("Filter", [](Dataset d) { return d.Filter(NotDivisibleBy3); });
    add("ShuffleWhole", [](Dataset d) { return d.Shuffle(30); });
    add("ShuffleBuffered", [](Dataset d) { return d.Shuffle(5); });
    add("ShuffleMap", [](Dataset d) { return d.Shuffle(5).Map(Twice, {.num_parallel_calls = 2}); });
    add("ShuffleRepeat", [](Dataset d) { return d.Shuffle(30).Repeat(3); });
    add("RepeatShuffle", [](Dataset d) { return d.Repeat(3).Shuffle(10); });
    add("RepeatShuffleBatch", [](Dataset d) { return d.Repeat().Shuffle(23).Batch(4).Take(25); });
    add("ShuffleRepeatBatchPrefetch", [](Dataset d) {
      return d.Shuffle(30).Repeat(3).Batch(4, {.drop_remainder = true}).Prefetch(2);
    });
    add("ShuffleOfShuffle", [](Dataset d) { return d.Shuffle(7).Shuffle(4).Repeat(2); });
    add("Repeat", [](Dataset d) { return d.Repeat(2); });
    add("Batch", [](Dataset d) { return d.Batch(4); });
    add("BatchMapPrefetch", [](Dataset d) { return d.Batch(4).Map(Twice).Prefetch(3); });
    add("PaddedBatch", [](Dataset d) { return d.PaddedBatch(4); });
    add("BucketBySequenceLength", [](Dataset d) {
      return d.Shuffle(5).BucketBySequenceLength(Remainder7, {2, 4}, {2, 5, 3}).Repeat(2);
    });
    add("BucketBySequenceLengthShuffle", [](Dataset d) {
      return d.Repeat(2)
          .BucketBySequenceLength(Remainder7, {3, 6}, {4, 2, 7}, {.drop_remainder = true})
          .Shuffle(3)
          .Prefetch(2);
    });
    add("Prefetch", [](Dataset d) { return d.Prefetch(4); });
    add("ShufflePrefetch", [](Dataset d) { return d.Repeat(2).Shuffle(9).Prefetch(4); });
    add("Cache", [](Dataset d) { return d.Map(Twice).Cache().Repeat(2); });
    add("CacheRepeatShuffle", [](Dataset d) { return d.Map(Twice).Cache().Repeat(2).Shuffle(23); });
    add("FileCache", [dir = std::make_shared<TempDir>()](Dataset d) {
      return d.Map(Twice).Cache(JoinPath(dir->path(), "cache")).Repeat(2);
    });
    add("Take", [](Dataset d) { return d.Take(9); });
    add("TakeWhile", [](Dataset d) { return d.TakeWhile(IsBelow9).Repeat(2); });
    add("BatchUnbatch", [](Dataset d) { return d.Batch(4).Unbatch().Repeat(2); });
    add("ShuffleBatchUnbatchShuffle",
        [](Dataset d) { return d.Repeat(2).Shuffle(9).Batch(4).Unbatch().Shuffle(3); });
    add("Rebatch", [](Dataset d) { return d.Batch(4).Rebatch(3).Prefetch(2); });
    add("Enumerate", [](Dataset d) { return d.Shuffle(5).Enumerate(3).Repeat(2); });
    add("Window", [](Dataset d) { return d.Window(3, Batch3).Repeat(2); });
    add("ShuffleWindowShift", [](Dataset d) {
      return d.Shuffle(6).Window(3, ShuffledWindow, {.shift = 2, .stride = 2});
    });
    add("WindowGap", [](Dataset d) {
      return d.Window(2, Batch3, {.shift = 5, .drop_remainder = true}).Repeat(2);
    });
    add("WindowShuffle", [](Dataset d) { return d.Window(4, ShuffledWindow).Shuffle(5); });
    add("PrefetchAutotune", [](Dataset d) {
      return d.Map(Twice, {.num_parallel_calls = kAutotune}).Prefetch(kAutotune);
    });
    add("Sample", [](Dataset d) {
      return Dataset::SampleFromDatasets({d.Shuffle(5), d.Map(Twice), Indexed().Take(4)}, {2, 1, 1})
          .Repeat(2);
    });
    add("SampleStop", [](Dataset d) {
      return Dataset::SampleFromDatasets(
                 {d.Repeat(), Indexed()}, {},
                 {.stop_on_empty_dataset = true, .rerandomize_each_iteration = true})
          .Repeat(2);
    });
    add("Choose", [](Dataset d) {
      const Dataset choices = Dataset::Range(0, 2).Repeat(20).Shuffle(7);
      return Dataset::ChooseFromDatasets({d.Take(5), d.Skip(9)}, choices,
                                         {.stop_on_empty_dataset = false});
    });
    add("TakeOfShuffle", [](Dataset d) { return d.Shuffle(23).Take(9).Repeat(2); });
    add("Skip", [](Dataset d) { return d.Skip(9); });
    add("Shard", [](Dataset d) { return d.Repeat(2).Shard(3, 1); });
    add("Zip", [](Dataset d) { return Dataset::Zip(d.Shuffle(4), Indexed()); });
    add("ZipIndexedBatch",
        [](Dataset d) { return Dataset::Zip(d, Indexed()).Shuffle(8).Batch(3); });
    add("Concatenate", [](Dataset d) { return Dataset::Concatenate({d.Take(5), Stream(), d}); });
    add("FlatMap", [](Dataset d) { return d.Take(7).FlatMap(Countdown).Repeat(2); });
    add("Interleave", [](Dataset d) {
      return d.Take(9).Shuffle(4).Interleave(Countdown, {.cycle_length = 3, .block_length = 2});
    });
  }
  all.push_back({"Tensors", [] {
                   return Dataset::FromTensors(
                              {.features = Array::Scalar<int64_t>(3), .labels = {}})
                       .Repeat(4);
                 }});
  all.push_back({"SizedGenerator", [] {
                   return Dataset::FromGenerator(
                              [](int64_t i) -> absl::StatusOr<std::optional<Element>> {
                                return Element{.features = Array::Scalar<int64_t>(i), .labels = {}};
                              },
                              11)
                       .Shuffle(4);
                 }});
  return all;
}

// The next element as text, "end" at the end.
std::string NextText(Iterator& iterator) {
  const auto element = iterator.Next();
  if (!element.ok()) return element.status().ToString();
  if (!element->has_value()) return "end";
  std::string text;
  for (const ArrayMap* map : {&(*element)->features, &(*element)->labels}) {
    for (const auto& [name, array] : *map)
      absl::StrAppend(&text, name, "=", array.ToString(100), ";");
  }
  return text;
}

class Resume : public testing::TestWithParam<Pipeline> {};

TEST_P(Resume, GoesOnExactlyFromEveryPosition) {
  const Dataset dataset = GetParam().make();
  const auto reference = dataset.MakeIterator().value();
  std::vector<std::string> states, elements;
  do {
    const auto state = reference->SaveState();
    EST_ASSERT_OK(state);
    states.push_back(*state);
    elements.push_back(NextText(*reference));
    ASSERT_LT(elements.size(), 1000u);
  } while (elements.back() != "end");
  ASSERT_GT(elements.size(), 3u);
  for (size_t i = 0; i < states.size(); ++i) {
    // A dataset that is built again, as after a restart: nothing is shared with the first.
    const auto resumed = GetParam().make().MakeIterator().value();
    if (i % 2 == 1) NextText(*resumed);  // a used iterator restores as well
    const absl::Status status = resumed->RestoreState(states[i]);
    EST_ASSERT_OK(status);
    for (size_t k = i; k < elements.size(); ++k) {
      ASSERT_EQ(NextText(*resumed), elements[k]) << "restored at " << i << ", element " << k;
      if (k == i + 2) {  // and a state of a resumed iterator is as good
        const auto again = dataset.MakeIterator().value();
        EST_ASSERT_OK(again->RestoreState(resumed->SaveState().value()));
        ASSERT_EQ(NextText(*again), k + 1 < elements.size() ? elements[k + 1] : "end");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryNode, Resume, testing::ValuesIn(Pipelines()),
                         [](const auto& info) { return info.param.name; });

TEST(IteratorState, OfAnotherPipelineIsRefusedAndLeavesTheIteratorAlone) {
  const auto saved = Indexed().Batch(4).MakeIterator().value()->SaveState().value();
  const auto other = Indexed().Batch(5).MakeIterator().value();
  other->Next().value();
  const absl::Status status = other->RestoreState(saved);
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("saved \"Range(0, 23) > Batch(4)\", now \"Range(0, 23) > Batch(5)\"")));
  EXPECT_TRUE(absl::StrContains(NextText(*other), "5")) << "still at the second batch";
}

TEST(IteratorState, OfADatasetOfAnotherSizeIsRefused) {
  const auto of = [](int64_t n) {
    return Dataset::FromTensorSlices({.features = Array(DType::kInt64, {n}), .labels = {}});
  };
  const auto saved = of(10).Shuffle(100).MakeIterator().value()->SaveState().value();
  const absl::Status status = of(11).Shuffle(100).MakeIterator().value()->RestoreState(saved);
  EXPECT_THAT(status, ErrorHas("10 elements, this one has 11"));
}

TEST(IteratorState, ThatIsDamagedIsRefused) {
  const auto iterator = Indexed().Shuffle(5).MakeIterator().value();
  const std::string saved = iterator->SaveState().value();
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THAT(iterator->RestoreState(damaged), StatusIs(absl::StatusCode::kDataLoss)) << i;
    EXPECT_FALSE(iterator->RestoreState(saved.substr(0, i)).ok()) << i;
  }
}

TEST(IteratorState, OfAWholeShuffleIsSmallHoweverLongTheSource) {
  const auto iterator = Dataset::Range(0, int64_t{1} << 40)
                            .Shuffle(int64_t{1} << 40)
                            .Repeat()
                            .Batch(64)
                            .Prefetch(2)
                            .MakeIterator()
                            .value();
  for (int i = 0; i < 3; ++i) EST_ASSERT_OK(iterator->Next());
  const std::string state = iterator->SaveState().value();
  EXPECT_LT(state.size(), 200u);
  const std::string expected = NextText(*iterator);
  EST_ASSERT_OK(iterator->RestoreState(state));
  EXPECT_EQ(NextText(*iterator), expected);
}

TEST(IteratorState, UnderAnotherSeedGoesOnWithTheSavedOrder) {
  const auto first = Indexed().Shuffle(23, {.seed = 1}).MakeIterator().value();
  NextText(*first);
  const auto second = Indexed().Shuffle(23, {.seed = 2}).MakeIterator().value();
  EST_ASSERT_OK(second->RestoreState(first->SaveState().value()));
  for (int i = 0; i < 22; ++i) EXPECT_EQ(NextText(*second), NextText(*first));
}

}  // namespace
}  // namespace estimator
