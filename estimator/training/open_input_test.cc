#include "estimator/training/open_input.h"

#include "estimator/training/local_strategy.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

std::unique_ptr<OpenInput> Open() {
  auto feeder = MakeSingleFeeder(Mode::kTrain, Dataset::Range(0, 5).Batch(1));
  EXPECT_TRUE(feeder.ok()) << feeder.status();
  return std::make_unique<OpenInput>(*std::move(feeder));
}

int64_t ValueOf(const StepInput& input) { return input.replicas[0].features.at("").data<int64_t>()[0]; }

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

}  // namespace
}  // namespace estimator
