#include "estimator/kernels/op_traits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

using ::testing::Contains;
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

TEST(OpTraits, ProductsOfMatricesAreNotThoseOfImages) {
  EXPECT_TRUE(TraitsOf("_FusedMatMul").matrix_product);
  EXPECT_FALSE(TraitsOf("Conv2D").matrix_product);
  EXPECT_TRUE(TraitsOf("Conv2D").on_matrix_unit);
  EXPECT_TRUE(TraitsOf("DepthwiseConv2dNative").on_matrix_unit);
  EXPECT_FALSE(TraitsOf("AddV2").on_matrix_unit);
}

TEST(OpTraits, ResultsOfSumsMayBeFloat32) {
  for (const char* op : {"MatMul", "Conv2DBackpropFilter", "BiasAddGrad", "Sum", "Mean"})
    EXPECT_TRUE(TraitsOf(op).sums_in_float32) << op;
  EXPECT_FALSE(TraitsOf("Conv2D").sums_in_float32);
  EXPECT_FALSE(TraitsOf("Max").sums_in_float32);
}

// So a misspelt name is found.
TEST(OpTraits, EveryOpOfTheTableHasAKernel) {
  for (const std::string& op : OpsWithTraits()) {
    if (op == "_Copy" || op == "_UpdateSweep") continue;  // passes build their kernels
    bool found = false;
    for (const KernelTier tier :
         {KernelTier::kReference, KernelTier::kFused, KernelTier::kOneDnn, KernelTier::kNative})
      found = found || HasKernel(op, tier);
    // Views do not run.
    EXPECT_TRUE(found || TraitsOf(op).view) << op;
    const char* const with_bias = TraitsOf(op).with_bias;
    if (with_bias == nullptr) continue;
    EXPECT_THAT(OpsWithTraits(), Contains(with_bias));
  }
}

}  // namespace
}  // namespace estimator
