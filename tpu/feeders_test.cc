#include "tpu/feeders.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

std::vector<int64_t> Values(const Element& element) {
  const Array& array = element.features.at("");
  return {array.values<int64_t>().begin(), array.values<int64_t>().end()};
}

using Ints = std::vector<int64_t>;

std::unique_ptr<Feeder> Checked(absl::StatusOr<std::unique_ptr<Feeder>> feeder) {
  EST_EXPECT_OK(feeder);
  return *std::move(feeder);
}

TEST(SplitFeeder, SplitsABatchEvenlyAndSharesItsBytes) {
  const auto feeder = Checked(MakeSplitFeeder(Mode::kTrain, Dataset::Range(0, 8).Batch(4), 2, 4));
  const StepInput input = **feeder->Next();
  ASSERT_EQ(input.replicas.size(), 2u);
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{2, 3}));
  EXPECT_EQ(input.num_examples, 4);
  const char* first = static_cast<const char*>(input.replicas[0].features.at("").raw());
  EXPECT_EQ(input.replicas[1].features.at("").raw(), first + 16);
}

TEST(SplitFeeder, KeepsTheLastSmallerBatchWholeInEvaluation) {
  const auto feeder = Checked(MakeSplitFeeder(Mode::kEval, Dataset::Range(0, 7).Batch(4), 2, 4));
  EXPECT_TRUE((**feeder->Next()).full);
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{4, 5, 6}));
  EXPECT_FALSE((*feeder->Next()).has_value());
}

TEST(SplitFeeder, RefusesAnotherBatchSizeInTraining) {
  const auto feeder = Checked(MakeSplitFeeder(Mode::kTrain, Dataset::Range(0, 7).Batch(3), 2, 4));
  const absl::Status status = feeder->Next().status();
  EXPECT_THAT(status, ErrorHas("a batch of 3 rows, but a step takes 4"));
}

// Batches of one feature [2, n], the batch on axis 1: column i is {i, -i}.
Dataset Columns(int64_t count, int64_t batch_size) {
  return Dataset::Range(0, count)
      .Batch(batch_size)
      .Map([](const Element& rows) -> absl::StatusOr<Element> {
        const absl::Span<const int64_t> values = rows.features.at("").values<int64_t>();
        Array columns(DType::kInt64, {2, static_cast<int64_t>(values.size())});
        for (size_t i = 0; i < values.size(); ++i) {
          columns.data<int64_t>()[i] = values[i];
          columns.data<int64_t>()[values.size() + i] = -values[i];
        }
        return Element{.features = columns, .labels = {}};
      });
}

TEST(SplitFeeder, SplitsOnTheBatchAxis) {
  const auto feeder = Checked(MakeSplitFeeder(Mode::kEval, Columns(7, 4), 2, 4, {1}));
  const StepInput input = **feeder->Next();
  EXPECT_EQ(input.num_examples, 4);
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1, 0, -1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{2, 3, -2, -3}));
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(rest.num_examples, 3);
}

TEST(ConsecutiveFeeder, GivesReplicasBatchesInTurn) {
  const auto feeder =
      Checked(MakeConsecutiveFeeder(Mode::kTrain, Dataset::Range(0, 10).Batch(2), 2, 2));
  EXPECT_EQ(Values((**feeder->Next()).replicas[1]), (Ints{2, 3}));
  EXPECT_EQ(Values((**feeder->Next()).replicas[0]), (Ints{4, 5}));
  EXPECT_FALSE((*feeder->Next()).has_value()) << "half a step is dropped in training";
}

TEST(ConsecutiveFeeder, JoinsWhatDoesNotFillAStepInEvaluation) {
  const auto feeder =
      Checked(MakeConsecutiveFeeder(Mode::kEval, Dataset::Range(0, 7).Batch(2), 2, 2));
  ASSERT_TRUE((*feeder->Next())->full);
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{4, 5, 6}));
}

TEST(ConsecutiveFeeder, JoinsOnTheBatchAxis) {
  const auto feeder = Checked(MakeConsecutiveFeeder(Mode::kEval, Columns(3, 2), 4, 2, {1}));
  const StepInput rest = **feeder->Next();
  EXPECT_EQ(rest.num_examples, 3);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{0, 1, 2, 0, -1, -2}));
}

TEST(SplitFeeder, WantsOneAxisForEachArray) {
  const auto feeder = Checked(MakeSplitFeeder(Mode::kEval, Columns(4, 4), 2, 4, {1, 0}));
  EXPECT_THAT(feeder->Next(), ErrorHas("batch_axis has 2 entries"));
}

TEST(ConsecutiveFeeder, RefusesToJoinBatchesOfDifferentShapes) {
  const auto batches = [](const Element& e) -> absl::StatusOr<Element> {
    const int64_t n = e.features.at("").scalar<int64_t>();
    return Element{.features = Array(DType::kFloat32, {n == 0 ? 2 : 1, 3 + n}), .labels = {}};
  };
  const auto feeder =
      Checked(MakeConsecutiveFeeder(Mode::kEval, Dataset::Range(0, 2).Map(batches), 2, 2));
  const absl::Status status = feeder->Next().status();
  EXPECT_THAT(status, ErrorHas("f32 [2,3] in one batch of input_fn and f32 [1,4] in the next"));
}

TEST(PerShardFeeder, HasADatasetForEachReplica) {
  const auto feeder = Checked(
      MakePerShardFeeder({Dataset::Range(0, 4).Batch(2), Dataset::Range(10, 14).Batch(2)}, 2));
  const StepInput input = **feeder->Next();
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{10, 11}));
}

TEST(BroadcastFeeder, GivesEveryReplicaTheWhole) {
  const auto feeder =
      Checked(MakeBroadcastFeeder(Mode::kTrain, Dataset::Range(0, 4).Batch(4), 3, 4));
  const StepInput input = **feeder->Next();
  ASSERT_EQ(input.replicas.size(), 3u);
  EXPECT_EQ(Values(input.replicas[2]), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(input.num_examples, 4);
}

TEST(Feeders, GoOnFromASavedPosition) {
  const std::vector<Dataset> datasets = {Dataset::Range(0, 8).Batch(2),
                                         Dataset::Range(10, 18).Batch(2)};
  const auto feeder = Checked(MakePerShardFeeder(datasets, 2));
  EST_ASSERT_OK(feeder->Next());
  const std::string state = *feeder->SaveState();
  const auto again = Checked(MakePerShardFeeder(datasets, 2));
  EST_ASSERT_OK(again->RestoreState(state));
  EXPECT_EQ(Values((**again->Next()).replicas[1]), (Ints{12, 13}));
  EXPECT_FALSE(again->RestoreState("nonsense").ok());
  const auto other = Checked(MakeSplitFeeder(Mode::kTrain, datasets[0], 2, 2));
  EXPECT_FALSE(other->RestoreState(state).ok());
}

}  // namespace
}  // namespace estimator::tpu
