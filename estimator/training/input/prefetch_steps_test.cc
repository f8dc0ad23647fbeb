#include "estimator/training/input/prefetch_steps.h"

#include <sys/stat.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/training/input/feeder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Counts the elements that were read. A test waits for a count instead of sleeping.
class Reads {
 public:
  Dataset Count(const Dataset& dataset) {
    return dataset.Map([this](const Element& element) -> absl::StatusOr<Element> {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++count_;
      changed_.notify_all();
      return element;
    });
  }
  void WaitFor(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

std::unique_ptr<Feeder> Open(const Dataset& dataset) {
  auto feeder = Feeder::Open({dataset}, {});
  EST_EXPECT_OK(feeder);
  return *std::move(feeder);
}

int64_t NextOf(Feeder& input) {
  return (*input.Next())->replicas[0].features.at("").data<int64_t>()[0];
}

std::string PipelineOf(const InputFn& input_fn, const InputFn::Call& call) {
  return input_fn(call)->Describe();
}

TEST(PrefetchSteps, AddsAPrefetchOnlyWhereNoneIsLast) {
  const auto gate = std::make_shared<ReadGate>();
  const Dataset data = Dataset::Range(0, 5).Batch(1);
  EXPECT_EQ(EndWithPrefetch(data, 2, gate).Describe(), "Range(0, 5) > Batch(1) > Prefetch(2)");
  EXPECT_THAT(EndWithPrefetch(data, 2, gate).Advice(), IsEmpty());
  EXPECT_EQ(EndWithPrefetch(data, 2, gate).ExamplesPerEpoch(), 5);
  const Dataset own = data.Prefetch(1);
  EXPECT_EQ(EndWithPrefetch(own, 2, gate).node(), own.node());
  const Dataset wrong = data.Batch(0);
  EXPECT_EQ(EndWithPrefetch(wrong, 2, gate).MakeIterator().status(), wrong.MakeIterator().status());
}

TEST(PrefetchSteps, ReadsTwoStepsAheadAndNoMore) {
  Reads reads;
  const auto input = Open(EndWithPrefetch(reads.Count(Dataset::Range(0, 100).Batch(1)),
                                          kPrefetchedSteps, std::make_shared<ReadGate>()));
  for (int step = 0; step < 10; ++step) {
    EXPECT_EQ(NextOf(*input), step);
    reads.WaitFor(step + 3);
    EXPECT_EQ(reads.count(), step + 3);
  }
}

TEST(PrefetchSteps, AStepOfSeveralElementsReadsTwiceAsManyAhead) {
  const InputFn one([](const InputFn::Call&) { return Dataset::Range(0, 99).Batch(1); });
  EXPECT_EQ(PipelineOf(PrefetchSteps(one, 8), {.batch_size = 8}),
            "Range(0, 99) > Batch(1) > Prefetch(2)");
  EXPECT_EQ(PipelineOf(PrefetchSteps(one, 8), {.batch_size = 2}),
            "Range(0, 99) > Batch(1) > Prefetch(8)");
  EXPECT_EQ(PipelineOf(PrefetchSteps(one, 8), {.batch_size = 2, .num_invocations = 4}),
            "Range(0, 99) > Batch(1) > Prefetch(2)");
  EXPECT_EQ(PipelineOf(PrefetchSteps(one, 0), {}), "Range(0, 99) > Batch(1) > Prefetch(2)");
}

TEST(PrefetchSteps, OnlyAnInputThatCannotWaitIsReadAheadForPredictions) {
  const auto pipeline = [](const Dataset& dataset) {
    const InputFn input_fn([dataset](const InputFn::Call&) { return dataset; });
    return PipelineOf(PrefetchStepsUnlessInputWaits(input_fn, 1, nullptr), {.batch_size = 1});
  };
  const Dataset range = Dataset::Range(0, 9);
  EXPECT_EQ(pipeline(range.Batch(1)), "Range(0, 9) > Batch(1) > Prefetch(2)");
  const auto generate = [](int64_t) -> absl::StatusOr<std::optional<Element>> {
    return Element{.features = Array::Scalar(1.0f), .labels = {}};
  };
  const Dataset generator = Dataset::FromGenerator(generate);
  EXPECT_EQ(pipeline(generator.Batch(1)), "Generator > Batch(1)");
  EXPECT_THAT(pipeline(Dataset::FromGenerator(generate, 5).Batch(1)), EndsWith("> Batch(1)"));
  EXPECT_THAT(pipeline(Dataset::Zip(range, generator).Batch(1)), EndsWith("> Batch(1)"));
  const auto to_generator = [generator](const Element&) -> absl::StatusOr<Dataset> {
    return generator;
  };
  EXPECT_THAT(pipeline(range.FlatMap(to_generator).Batch(1)), EndsWith("> Batch(1)"));

  const TempDir dir;
  const std::string file = dir.File("lines"), pipe = dir.File("pipe");
  EST_ASSERT_OK(WriteFileAtomically(file, "1\n2\n"));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(pipeline(TextLineDataset({file}).Batch(1)), EndsWith("> Prefetch(2)"));
  EXPECT_THAT(pipeline(TextLineDataset({file, pipe}).Batch(1)), EndsWith("> Batch(1)"));
}

TEST(PrefetchSteps, TheSavedPositionIsThatOfTheStepsThatWereConsumed) {
  for (int consumed = 0; consumed < 5; ++consumed) {
    Reads reads;
    const Dataset dataset = EndWithPrefetch(reads.Count(Dataset::Range(0, 20).Batch(1)), 2,
                                            std::make_shared<ReadGate>());
    const auto input = Open(dataset);
    for (int i = 0; i < consumed; ++i) NextOf(*input);
    if (consumed > 0) reads.WaitFor(consumed + 2);  // two batches are in the queue
    const absl::StatusOr<std::string> state = input->Position();
    EST_ASSERT_OK(state);
    const auto again = Open(dataset);
    EST_ASSERT_OK(again->Restore(*state));
    EXPECT_EQ(NextOf(*again), consumed);
  }
}

TEST(PrefetchSteps, AnErrorComesAtItsOwnStepWithTheMessageOfTheInput) {
  const Dataset data =
      Dataset::Range(0, 5).Batch(1).Map([](const Element& element) -> absl::StatusOr<Element> {
        if (element.features.at("").data<int64_t>()[0] == 2) return absl::DataLossError("damaged");
        return element;
      });
  const auto plain = Open(data),
             ahead = Open(EndWithPrefetch(data, 2, std::make_shared<ReadGate>()));
  for (const auto& input : {plain.get(), ahead.get()}) {
    EXPECT_EQ(NextOf(*input), 0);
    EXPECT_EQ(NextOf(*input), 1);
  }
  const absl::Status expected = plain->Next().status();
  EXPECT_THAT(expected.message(), HasSubstr("damaged"));
  EXPECT_EQ(ahead->Next().status(), expected);
}

TEST(PrefetchSteps, NothingIsReadWhileTheGateIsPaused) {
  Reads reads;
  const auto gate = std::make_shared<ReadGate>();
  const auto input = Open(EndWithPrefetch(reads.Count(Dataset::Range(0, 99).Batch(1)), 2, gate));
  for (int64_t step = 0; step < 50; ++step) {
    EXPECT_EQ(NextOf(*input), step);
    gate->Pause();
    const int count = reads.count();
    EST_ASSERT_OK(input->Position());
    EXPECT_EQ(reads.count(), count);
    gate->Open();
  }
}

TEST(PrefetchSteps, APausedInputCanBeDestroyedOnceItsGateIsClosed) {
  for (int steps = 0; steps < 5; ++steps) {
    const auto gate = std::make_shared<ReadGate>();
    auto input = Open(EndWithPrefetch(Dataset::Range(0, 99).Batch(1), 2, gate));
    for (int i = 0; i < steps; ++i) NextOf(*input);
    gate->Pause();
    gate->Close();
    input = nullptr;
  }
}

}  // namespace
}  // namespace estimator
