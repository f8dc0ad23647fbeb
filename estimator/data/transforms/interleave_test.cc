#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using Values = std::vector<int64_t>;

int64_t ValueOf(const Element& element) { return element.features.Only()->scalar<int64_t>(); }

Values Rest(Iterator& iterator) {
  Values values;
  while (true) {
    const auto element = iterator.Next();
    EST_EXPECT_OK(element);
    if (!element.ok() || !element->has_value()) return values;
    values.push_back(ValueOf(**element));
  }
}

// Datasets of different lengths, some of them empty: element i has 100 i, 100 i + 1, ...
Dataset Numbers(InterleaveOptions options) {
  const auto expand = [](const Element& element) -> absl::StatusOr<Dataset> {
    const int64_t i = ValueOf(element);
    return Dataset::Range(100 * i, 100 * i + i * 7 % 40);
  };
  return Dataset::Range(0, 23).Interleave(expand, options);
}

TEST(Interleave, OfThreadsHasTheOrderOfOne) {
  for (const int cycle_length : {1, 2, 5, 40}) {
    for (const int block_length : {1, 3, 50}) {
      InterleaveOptions options = {.cycle_length = cycle_length, .block_length = block_length};
      const Dataset sequential = Numbers(options);
      const Values expected = Rest(**sequential.MakeIterator());
      for (const int num_parallel_calls : {kAutotune, 2, 4}) {
        options.num_parallel_calls = num_parallel_calls;
        EXPECT_EQ(Numbers(options).Describe(), sequential.Describe());
        EXPECT_EQ(Rest(**Numbers(options).MakeIterator()), expected)
            << cycle_length << " " << block_length << " " << num_parallel_calls;
      }
    }
  }
}

// Each state is restored by both, so the number of threads may change between runs.
TEST(Interleave, ResumesAtEachPositionWithAnyNumberOfThreads) {
  InterleaveOptions options = {.cycle_length = 3, .block_length = 2};
  const Dataset sequential = Numbers(options);
  options.num_parallel_calls = 3;
  const Dataset parallel = Numbers(options);
  const Values all = Rest(**sequential.MakeIterator());
  for (const Dataset& saved : {sequential, parallel}) {
    const auto reference = saved.MakeIterator().value();
    for (size_t i = 0; i <= all.size(); ++i) {
      const std::string state = reference->SaveState().value();
      for (const Dataset& restored : {sequential, parallel}) {
        const auto resumed = restored.MakeIterator().value();
        EST_ASSERT_OK(resumed->RestoreState(state));
        EXPECT_EQ(Rest(*resumed), Values(all.begin() + static_cast<int64_t>(i), all.end())) << i;
      }
      EST_EXPECT_OK(reference->Next());
    }
  }
}

// The state of a shuffled dataset is large, so it is not recorded before each element.
TEST(Interleave, SkipsInDatasetsWhoseStateIsLarge) {
  const auto shuffled = [](int num_parallel_calls) {
    const auto expand = [](const Element& element) -> absl::StatusOr<Dataset> {
      return Dataset::Range(0, 3000)
          .Filter([](const Element&) { return true; })
          .Shuffle(2500, {.seed = ValueOf(element)});
    };
    return Dataset::Range(0, 2).Interleave(
        expand, {.cycle_length = 2, .num_parallel_calls = num_parallel_calls});
  };
  const Values all = Rest(**shuffled(1).MakeIterator());
  const auto reference = shuffled(2).MakeIterator().value();
  for (size_t i = 0; i < 12; ++i) {
    const auto resumed = shuffled(i % 2 == 0 ? 1 : 2).MakeIterator().value();
    EST_ASSERT_OK(resumed->RestoreState(reference->SaveState().value()));
    EXPECT_EQ(Rest(*resumed), Values(all.begin() + static_cast<int64_t>(i), all.end())) << i;
    EST_EXPECT_OK(reference->Next());
  }
}

TEST(Interleave, ReadsDatasetsAtTheSameTime) {
  // Each dataset waits until both are being read.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable met;
    int num_there = 0;
  };
  const auto meeting = std::make_shared<Meeting>();
  const auto expand = [meeting](const Element&) -> absl::StatusOr<Dataset> {
    return Dataset::Range(0, 1).Map([meeting](const Element& element) -> absl::StatusOr<Element> {
      std::unique_lock<std::mutex> lock(meeting->mutex);
      if (++meeting->num_there == 2) meeting->met.notify_all();
      meeting->met.wait(lock, [&] { return meeting->num_there >= 2; });
      return element;
    });
  };
  const Dataset dataset =
      Dataset::Range(0, 2).Interleave(expand, {.cycle_length = 2, .num_parallel_calls = 2});
  EXPECT_EQ(Rest(**dataset.MakeIterator()), (Values{0, 0}));
}

TEST(Interleave, ErrorsAreAtTheirPlace) {
  const auto expand = [](const Element& element) -> absl::StatusOr<Dataset> {
    const int64_t i = ValueOf(element);
    if (i == 2) return absl::NotFoundError("no such file");
    return Dataset::Range(10 * i, 10 * i + 2)
        .Map([](const Element& number) -> absl::StatusOr<Element> {
          if (ValueOf(number) == 1) return absl::DataLossError("damaged");
          return number;
        });
  };
  for (const int num_parallel_calls : {1, 4}) {
    const InterleaveOptions options = {.cycle_length = 4, .num_parallel_calls = num_parallel_calls};
    const auto damaged = Dataset::Range(0, 2).Interleave(expand, options).MakeIterator().value();
    EXPECT_EQ(ValueOf(*damaged->Next().value()), 0);
    EXPECT_EQ(ValueOf(*damaged->Next().value()), 10);
    EXPECT_THAT(damaged->Next(), ErrorHas("element 1 of Range(0, 2): damaged"));

    const auto missing = Dataset::Range(1, 4).Interleave(expand, options).MakeIterator().value();
    EXPECT_EQ(ValueOf(*missing->Next().value()), 10);
    const std::string before = missing->SaveState().value();
    EXPECT_THAT(missing->Next(), ErrorIs("Interleave: element 1 of Range(1, 4): no such file"));
    EST_ASSERT_OK(missing->RestoreState(before));
    EXPECT_THAT(missing->Next(), ErrorHas("no such file"));
  }
}

TEST(Interleave, AnIteratorMayEndWhileItReads) {
  for (int i = 0; i < 20; ++i) {
    const auto iterator =
        Numbers({.cycle_length = 4, .num_parallel_calls = 4}).MakeIterator().value();
    for (int k = 0; k < i; ++k) EST_EXPECT_OK(iterator->Next());
  }
}

TEST(Interleave, BadOptionsAreErrors) {
  EXPECT_THAT(Numbers({.num_parallel_calls = 0}).MakeIterator(),
              ErrorHas("Interleave: num_parallel_calls is 0; it must be at least 1"));
  EXPECT_THAT(Numbers({.cycle_length = 0}).MakeIterator(), ErrorHas("cycle_length is 0"));
}

}  // namespace
}  // namespace estimator
