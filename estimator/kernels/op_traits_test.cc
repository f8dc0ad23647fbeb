#include "estimator/kernels/op_traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace estimator {
namespace {

using ::testing::ElementsAre;
using Failure = OpTraits::Failure;
using Layout = OpTraits::Layout;

TEST(OpTraits, AnOpThatIsNotInTheTableHasNone) {
  const OpTraits& traits = TraitsOf("SomebodysOp");
  EXPECT_FALSE(traits.view);
  EXPECT_FALSE(traits.elementwise);
  EXPECT_EQ(traits.failure, Failure::kPossible);
  EXPECT_EQ(traits.layout, Layout::kNhwc);
}

TEST(OpTraits, ViewsDoNotFail) {
  EXPECT_TRUE(TraitsOf("Reshape").view);
  EXPECT_EQ(TraitsOf("Reshape").failure, Failure::kNever);
}

TEST(OpTraits, UpdatesOfOptimizersDoNotFail) {
  EXPECT_EQ(TraitsOf("ApplySomebodysRule").failure, Failure::kNever);
  EXPECT_EQ(TraitsOf("RealDiv").failure, Failure::kNeverOfFloats);
  EXPECT_EQ(TraitsOf("GatherV2").failure, Failure::kPossible);
}

TEST(OpTraits, ConvolutionsChooseTheLayoutOfTheirImages) {
  const OpTraits& traits = TraitsOf("_FusedConv2D");
  EXPECT_EQ(traits.layout, Layout::kChooses);
  EXPECT_THAT(traits.image_inputs, ElementsAre(0, 3));
  EXPECT_THAT(traits.image_outputs, ElementsAre(0));
  EXPECT_EQ(TraitsOf("MaxPool").layout, Layout::kFollows);
}

TEST(OpTraits, ProductsHaveTwoFactors) {
  EXPECT_THAT(TraitsOf("MatMul").factors, ElementsAre(0, 1));
  EXPECT_THAT(TraitsOf("Conv2DBackpropFilter").factors, ElementsAre(0, 2));
  EXPECT_TRUE(TraitsOf("AddV2").factors.empty());
}

}  // namespace
}  // namespace estimator
