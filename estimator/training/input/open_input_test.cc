#include "estimator/training/input/open_input.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/training/input/single_feeder.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

std::unique_ptr<OpenInput> Open() {
  auto feeder = MakeSingleFeeder(Mode::kTrain, Dataset::Range(0, 5).Batch(1));
  EST_EXPECT_OK(feeder);
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
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  const std::string state = *input->SaveState();
  const auto again = Open();
  EST_ASSERT_OK(again->Peek());
  EST_ASSERT_OK(again->RestoreState(state));
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
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  EST_ASSERT_OK(input->Next());
  input->MarkLastUnused();
  const auto again = Open();
  EST_ASSERT_OK(again->RestoreState(*input->SaveState()));
  EXPECT_EQ(ValueOf(**again->Next()), 1);
  EXPECT_EQ(ValueOf(**input->Next()), 2);
  EST_ASSERT_OK(again->RestoreState(*input->SaveState()));
  EXPECT_EQ(ValueOf(**again->Next()), 3);
}

TEST(OpenInput, SeveralStepsThatWereNotUsedComeAgainFromTheSavedState) {
  const auto input = Open();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Next());
  const std::string position = input->last_position();  // of step 1
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Peek());
  input->MarkUnusedFrom(position);
  const auto again = Open();
  EST_ASSERT_OK(again->RestoreState(*input->SaveState()));
  EXPECT_EQ(ValueOf(**again->Next()), 1);
  // The open input continues, and then its own position counts again.
  EXPECT_EQ(ValueOf(**input->Next()), 3);
  EST_ASSERT_OK(again->RestoreState(*input->SaveState()));
  EXPECT_EQ(ValueOf(**again->Next()), 4);
}

TEST(OpenInput, ARestoredPositionReplacesThatOfUnusedSteps) {
  const auto input = Open();
  const std::string start = *input->SaveState();
  EST_ASSERT_OK(input->Next());
  EST_ASSERT_OK(input->Next());
  input->MarkUnusedFrom(input->last_position());
  EST_ASSERT_OK(input->RestoreState(start));
  EXPECT_EQ(*input->SaveState(), start);
  EXPECT_EQ(ValueOf(**input->Next()), 0);
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
    EST_ASSERT_OK(input.Next());
    EST_ASSERT_OK(input.Next());
    if (peeks) {
      EXPECT_FALSE(input.Peek().ok());
    }
    EXPECT_FALSE(input.Next().ok());
    const absl::StatusOr<std::string> state = input.SaveState();
    EST_ASSERT_OK(state);
    *fails = false;
    EST_ASSERT_OK(input.RestoreState(*state));
    EXPECT_EQ(ValueOf(**input.Next()), 2);
  }
}

}  // namespace
}  // namespace estimator
