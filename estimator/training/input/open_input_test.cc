#include "estimator/training/input/open_input.h"

#include "estimator/training/input/single_feeder.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

std::unique_ptr<OpenInput> Open() {
  auto feeder = MakeSingleFeeder(Mode::kTrain, Dataset::Range(0, 5).Batch(1));
  EXPECT_TRUE(feeder.ok()) << feeder.status();
  return std::make_unique<OpenInput>(*std::move(feeder));
}

int64_t ValueOf(const StepInput& input) {
  return input.replicas[0].features.at("").data<int64_t>()[0];
}

TEST(OpenInput, LookingAtAStepDoesNotUseItUp) {
  const auto input = Open();
  EXPECT_EQ(ValueOf(**input->Peek()), 0);
  EXPECT_EQ(ValueOf(**input->Peek()), 0);
  EXPECT_EQ(ValueOf(**input->Next()), 0);
  EXPECT_EQ(ValueOf(**input->Next()), 1);
}

TEST(OpenInput, APeekedStepIsStillToComeInTheSavedState) {
  const auto input = Open();
  ASSERT_TRUE(input->Next().ok());
  ASSERT_TRUE(input->Peek().ok());
  const std::string state = *input->SaveState();
  const auto again = Open();
  ASSERT_TRUE(again->Peek().ok());
  ASSERT_TRUE(again->RestoreState(state).ok());
  EXPECT_EQ(ValueOf(**again->Next()), 1);
}

TEST(OpenInput, TheEndIsNull) {
  const auto input = Open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((*input->Next()).has_value());
  EXPECT_EQ(*input->Peek(), nullptr);
  EXPECT_FALSE((*input->Next()).has_value());
}

TEST(OpenInput, AStepThatWasNotUsedComesAgainFromTheSavedState) {
  const auto input = Open();
  ASSERT_TRUE(input->Next().ok());
  ASSERT_TRUE(input->Peek().ok());
  ASSERT_TRUE(input->Next().ok());
  input->MarkLastUnused();
  const auto again = Open();
  ASSERT_TRUE(again->RestoreState(*input->SaveState()).ok());
  EXPECT_EQ(ValueOf(**again->Next()), 1);
  EXPECT_EQ(ValueOf(**input->Next()), 2);
  ASSERT_TRUE(again->RestoreState(*input->SaveState()).ok());
  EXPECT_EQ(ValueOf(**again->Next()), 3);
}

// An iterator that has failed cannot give its position.
TEST(OpenInput, AfterAnErrorTheSavedStateIsThatOfTheStepThatFailed) {
  for (const bool peeks : {false, true}) {
    const auto fails = std::make_shared<bool>(true);
    const Dataset dataset = Dataset::Range(0, 5).Batch(1).Map(
        [fails](const Element& element) -> absl::StatusOr<Element> {
          if (*fails && element.features.at("").data<int64_t>()[0] == 2)
            return absl::DataLossError("damaged");
          return element;
        });
    OpenInput input(*MakeSingleFeeder(Mode::kTrain, dataset));
    ASSERT_TRUE(input.Next().ok());
    ASSERT_TRUE(input.Next().ok());
    if (peeks) {
      EXPECT_FALSE(input.Peek().ok());
    }
    EXPECT_FALSE(input.Next().ok());
    const absl::StatusOr<std::string> state = input.SaveState();
    ASSERT_TRUE(state.ok()) << state.status();
    *fails = false;
    ASSERT_TRUE(input.RestoreState(*state).ok());
    EXPECT_EQ(ValueOf(**input.Next()), 2);
  }
}

}  // namespace
}  // namespace estimator
