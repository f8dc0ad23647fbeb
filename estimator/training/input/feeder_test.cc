#include "estimator/training/input/feeder.h"

#include "estimator/base/testing/hex.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

std::vector<int64_t> Values(const Element& element) {
  const Array& array = element.features.at("");
  return {array.values<int64_t>().begin(), array.values<int64_t>().end()};
}

using Ints = std::vector<int64_t>;

std::unique_ptr<Feeder> Open(const std::vector<Dataset>& datasets, FeederOptions options = {}) {
  absl::StatusOr<std::unique_ptr<Feeder>> feeder = Feeder::Open(datasets, std::move(options));
  EST_EXPECT_OK(feeder);
  return *std::move(feeder);
}
std::unique_ptr<Feeder> Split(Mode mode, const Dataset& dataset, int num_replicas, int64_t rows,
                              std::vector<int64_t> batch_axis = {}) {
  return Open({dataset}, {.mode = mode,
                          .distribution = Distribution::kSplit,
                          .num_replicas = num_replicas,
                          .element_rows = rows,
                          .batch_axis = std::move(batch_axis)});
}
std::unique_ptr<Feeder> InTurn(Mode mode, const std::vector<Dataset>& datasets, int num_replicas,
                               int64_t rows, std::vector<int64_t> batch_axis = {}) {
  return Open(datasets, {.mode = mode,
                         .distribution = Distribution::kInTurn,
                         .num_replicas = num_replicas,
                         .element_rows = rows,
                         .batch_axis = std::move(batch_axis)});
}

TEST(FeederSplit, SplitsABatchEvenlyAndSharesItsBytes) {
  const auto feeder = Split(Mode::kTrain, Dataset::Range(0, 8).Batch(4), 2, 4);
  const StepInput input = **feeder->Next();
  ASSERT_EQ(input.replicas.size(), 2u);
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{2, 3}));
  EXPECT_EQ(input.num_examples, 4);
  const char* first = static_cast<const char*>(input.replicas[0].features.at("").raw());
  EXPECT_EQ(input.replicas[1].features.at("").raw(), first + 16);
}

TEST(FeederSplit, KeepsTheLastSmallerBatchWholeInEvaluation) {
  const auto feeder = Split(Mode::kEval, Dataset::Range(0, 7).Batch(4), 2, 4);
  EXPECT_TRUE((**feeder->Next()).full);
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{4, 5, 6}));
  EXPECT_FALSE((*feeder->Next()).has_value());
}

TEST(FeederSplit, KeepsTheRowsOfTheReplicasOfThisProcess) {
  const auto feeder = Open({Dataset::Range(0, 7).Batch(4)}, {.mode = Mode::kEval,
                                                             .distribution = Distribution::kSplit,
                                                             .num_replicas = 4,
                                                             .element_rows = 4,
                                                             .num_kept = 2,
                                                             .first_kept = 1});
  const StepInput input = **feeder->Next();
  ASSERT_EQ(input.replicas.size(), 2u);
  EXPECT_EQ(Values(input.replicas[0]), (Ints{1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{2}));
  const StepInput rest = **feeder->Next();
  ASSERT_EQ(rest.replicas.size(), 1u);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{4, 5, 6}));
}

TEST(FeederSplit, RefusesAnotherBatchSizeInTraining) {
  const auto feeder = Split(Mode::kTrain, Dataset::Range(0, 7).Batch(3), 2, 4);
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

TEST(FeederSplit, SplitsOnTheBatchAxis) {
  const auto feeder = Split(Mode::kEval, Columns(7, 4), 2, 4, {1});
  const StepInput input = **feeder->Next();
  EXPECT_EQ(input.num_examples, 4);
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1, 0, -1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{2, 3, -2, -3}));
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(rest.num_examples, 3);
}

TEST(FeederInTurn, GivesReplicasBatchesInTurn) {
  const auto feeder = InTurn(Mode::kTrain, {Dataset::Range(0, 10).Batch(2)}, 2, 2);
  EXPECT_EQ(Values((**feeder->Next()).replicas[1]), (Ints{2, 3}));
  EXPECT_EQ(Values((**feeder->Next()).replicas[0]), (Ints{4, 5}));
  EXPECT_FALSE((*feeder->Next()).has_value()) << "half a step is dropped in training";
}

TEST(FeederInTurn, JoinsWhatDoesNotFillAStepInEvaluation) {
  const auto feeder = InTurn(Mode::kEval, {Dataset::Range(0, 7).Batch(2)}, 2, 2);
  ASSERT_TRUE((*feeder->Next())->full);
  const StepInput rest = **feeder->Next();
  EXPECT_FALSE(rest.full);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{4, 5, 6}));
}

TEST(FeederInTurn, JoinsOnTheBatchAxis) {
  const auto feeder = InTurn(Mode::kEval, {Columns(3, 2)}, 4, 2, {1});
  const StepInput rest = **feeder->Next();
  EXPECT_EQ(rest.num_examples, 3);
  EXPECT_EQ(Values(rest.replicas[0]), (Ints{0, 1, 2, 0, -1, -2}));
}

TEST(FeederSplit, WantsOneAxisForEachArray) {
  const auto feeder = Split(Mode::kEval, Columns(4, 4), 2, 4, {1, 0});
  EXPECT_THAT(feeder->Next(), ErrorHas("batch_axis has 2 entries"));
}

TEST(FeederInTurn, RefusesToJoinBatchesOfDifferentShapes) {
  const auto batches = [](const Element& e) -> absl::StatusOr<Element> {
    const int64_t n = e.features.at("").scalar<int64_t>();
    return Element{.features = Array(DType::kFloat32, {n == 0 ? 2 : 1, 3 + n}), .labels = {}};
  };
  const auto feeder = InTurn(Mode::kEval, {Dataset::Range(0, 2).Map(batches)}, 2, 2);
  const absl::Status status = feeder->Next().status();
  EXPECT_THAT(status, ErrorHas("f32 [2,3] in one batch of input_fn and f32 [1,4] in the next"));
}

TEST(FeederPerReplica, HasADatasetForEachReplica) {
  const auto feeder =
      InTurn(Mode::kTrain, {Dataset::Range(0, 4).Batch(2), Dataset::Range(10, 14).Batch(2)}, 2, 2);
  const StepInput input = **feeder->Next();
  EXPECT_EQ(Values(input.replicas[0]), (Ints{0, 1}));
  EXPECT_EQ(Values(input.replicas[1]), (Ints{10, 11}));
}

TEST(FeederWhole, GivesEveryReplicaTheWhole) {
  const auto feeder = Open({Dataset::Range(0, 4).Batch(4)}, {.num_replicas = 3, .element_rows = 4});
  const StepInput input = **feeder->Next();
  ASSERT_EQ(input.replicas.size(), 3u);
  EXPECT_EQ(Values(input.replicas[2]), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(input.num_examples, 4);
}

TEST(Feeder, GoesOnFromASavedPosition) {
  const std::vector<Dataset> datasets = {Dataset::Range(0, 8).Batch(2),
                                         Dataset::Range(10, 18).Batch(2)};
  const auto feeder = InTurn(Mode::kTrain, datasets, 2, 2);
  EST_ASSERT_OK(feeder->Next());
  const std::string state = *feeder->Position();
  const auto again = InTurn(Mode::kTrain, datasets, 2, 2);
  EST_ASSERT_OK(again->Restore(state));
  EXPECT_EQ(Values((**again->Next()).replicas[1]), (Ints{12, 13}));
  EXPECT_FALSE(again->Restore("nonsense").ok());
  const auto other = Split(Mode::kTrain, datasets[0], 2, 2);
  EXPECT_FALSE(other->Restore(state).ok());
}

std::unique_ptr<Feeder> OpenRange() { return Open({Dataset::Range(0, 5).Batch(1)}); }

int64_t ValueOf(const StepInput& input) { return Values(input.replicas[0])[0]; }

TEST(Feeder, LookingAtAStepDoesNotUseItUp) {
  const auto input = OpenRange();
  EXPECT_EQ(ValueOf(**input->Peek()), 0);
  EXPECT_EQ(ValueOf(**input->Peek()), 0);
  EXPECT_EQ(ValueOf(**input->Next()), 0);
  EXPECT_EQ(ValueOf(**input->Next()), 1);
}

TEST(Feeder, APeekedStepIsStillToComeInTheSavedState) {
  const auto input = OpenRange();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  const std::string state = *input->Position();
  const auto again = OpenRange();
  EST_ASSERT_OK(again->Peek());
  EST_ASSERT_OK(again->Restore(state));
  EXPECT_EQ(ValueOf(**again->Next()), 1);
}

TEST(Feeder, TheEndIsNull) {
  const auto input = OpenRange();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*input->Next()).has_value());
  EXPECT_EQ(*input->Peek(), nullptr);
  EXPECT_FALSE((*input->Next()).has_value());
}

TEST(Feeder, AStepThatWasNotUsedComesAgainFromTheSavedState) {
  const auto input = OpenRange();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  const StepInput unused = **input->Next();
  const auto again = OpenRange();
  EST_ASSERT_OK(again->Restore(unused.position));
  EXPECT_EQ(ValueOf(**again->Next()), 1);
  EXPECT_EQ(ValueOf(**input->Next()), 2);
  EST_ASSERT_OK(again->Restore(*input->Position()));
  EXPECT_EQ(ValueOf(**again->Next()), 3);
}

TEST(Feeder, SeveralStepsThatWereNotUsedComeAgainFromTheSavedState) {
  const auto input = OpenRange();
  EST_ASSERT_OK(input->Next());
  const StepInput first_unused = **input->Next();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  const auto again = OpenRange();
  EST_ASSERT_OK(again->Restore(first_unused.position));
  EXPECT_EQ(ValueOf(**again->Next()), 1);
  // The open input continues, and then its own position counts again.
  EXPECT_EQ(ValueOf(**input->Next()), 3);
  EST_ASSERT_OK(again->Restore(*input->Position()));
  EXPECT_EQ(ValueOf(**again->Next()), 4);
}

TEST(Feeder, ARestoredPositionReplacesThatOfStepsThatWereRead) {
  const auto input = OpenRange();
  const std::string start = *input->Position();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Restore(start));
  EXPECT_EQ(*input->Position(), start);
  EXPECT_EQ(ValueOf(**input->Next()), 0);
}

// An iterator that has failed cannot give its position.
TEST(Feeder, AfterAnErrorTheSavedStateIsThatOfTheStepThatFailed) {
  for (const bool peeks : {false, true}) {
    const auto fails = std::make_shared<bool>(true);
    const Dataset dataset = Dataset::Range(0, 5).Batch(1).Map(
        [fails](const Element& element) -> absl::StatusOr<Element> {
          if (*fails && element.features.at("").data<int64_t>()[0] == 2)
            return absl::DataLossError("damaged");
          return element;
        });
    const auto input = Open({dataset});
    EST_ASSERT_OK(input->Next());
    EST_ASSERT_OK(input->Next());
    if (peeks) {
      EXPECT_FALSE(input->Peek().ok());
    }
    EXPECT_FALSE(input->Next().ok());
    const absl::StatusOr<std::string> state = input->Position();
    EST_ASSERT_OK(state);
    *fails = false;
    EST_ASSERT_OK(input->Restore(*state));
    EXPECT_EQ(ValueOf(**input->Next()), 2);
  }
}

TEST(Feeder, ContinuesPositionsWithoutAndWithOtherPrefetches) {
  const Dataset data = Dataset::Range(0, 20).Shuffle(20).Batch(1);
  const auto whole = Open({data});
  Ints values;
  for (int i = 0; i < 6; ++i) values.push_back(ValueOf(**whole->Next()));
  for (const int64_t before : {0, 1, 3}) {
    const auto input = Open({data.Prefetch(before)});
    for (int i = 0; i < 5; ++i) EST_ASSERT_OK(input->Next());
    const auto now = Open({data.Prefetch(2)});
    EST_ASSERT_OK(now->Restore(*input->Position()));
    EXPECT_EQ(ValueOf(**now->Next()), values[5]);
    EXPECT_EQ(Open({data.Take(9)})->Restore(*input->Position()).code(),
              absl::StatusCode::kInvalidArgument);
  }
  const auto other = Open({Dataset::Range(0, 20).Shuffle(7).Batch(1).Prefetch(2)});
  EXPECT_THAT(other->Restore(*whole->Position()),
              ErrorHas("\"Shuffle(20)\" is now \"Shuffle(7)\""));
  EXPECT_FALSE(other->Restore("damaged").ok());
}

TEST(Feeder, ContinuesThePositionsOfReplicasWithoutAPrefetch) {
  const Dataset a = Dataset::Range(0, 20).Batch(1), b = Dataset::Range(0, 20).Skip(9).Batch(1);
  const auto input = InTurn(Mode::kTrain, {a, b}, 2, 1);
  EST_ASSERT_OK(input->Next());
  const auto now = InTurn(Mode::kTrain, {a.Prefetch(2), b.Prefetch(2)}, 2, 1);
  EST_ASSERT_OK(now->Restore(*input->Position()));
  const StepInput step = **now->Next();
  EXPECT_EQ(Values(step.replicas[0]), (Ints{1}));
  EXPECT_EQ(Values(step.replicas[1]), (Ints{10}));
  EXPECT_THAT(InTurn(Mode::kTrain, {a, b, a}, 3, 1)->Restore(*input->Position()),
              ErrorHas("\"2 x Range(0, 20)\" is now \"3 x Range(0, 20)\""));
}

// What an earlier version wrote into .input files, after 5 steps and, on two replicas, after one.
TEST(Feeder, ReadsAndWritesTheBytesOfEarlierVersions) {
  const std::string one = HexToBytes(
      "45495452013352616e676528302c20323029203e2053687566666c6528323029203e204261746368283129203e20"
      "50726566657463682832290e050c01bc91e0c9a3fabed23c140500c51dc0ed");
  const std::string without_prefetch = HexToBytes(
      "45495452012552616e676528302c20323029203e2053687566666c6528323029203e204261746368283129050c01"
      "bc91e0c9a3fabed23c1405cc67197e");
  const std::string two = HexToBytes(
      "4549545201283220782052616e676528302c203829203e204261746368283229203e205072656665746368283229"
      "3145495452012452616e676528302c203829203e204261746368283229203e205072656665746368283229010100"
      "0a730f8e3345495452012652616e67652831302c20313829203e204261746368283229203e205072656665746368"
      "2832290101006f65337494f2e421");
  const Dataset shuffled = Dataset::Range(0, 20).Shuffle(20, {.seed = 7}).Batch(1).Prefetch(2);
  const auto local = Open({shuffled});
  for (int i = 0; i < 5; ++i) EST_ASSERT_OK(local->Next());
  EXPECT_EQ(*local->Position(), one);
  for (const std::string& position : {one, without_prefetch}) {
    EST_ASSERT_OK(local->Restore(position));
    EXPECT_EQ(ValueOf(**local->Next()), 8);
  }
  const std::vector<Dataset> datasets = {Dataset::Range(0, 8).Batch(2).Prefetch(2),
                                         Dataset::Range(10, 18).Batch(2).Prefetch(2)};
  const auto replicas = InTurn(Mode::kTrain, datasets, 2, 2);
  EST_ASSERT_OK(replicas->Next());
  EXPECT_EQ(*replicas->Position(), two);
  EST_ASSERT_OK(replicas->Restore(two));
  EXPECT_EQ(Values((**replicas->Next()).replicas[1]), (Ints{12, 13}));
}

}  // namespace
}  // namespace estimator
