#include "estimator/op_def/op_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"
#include "estimator/op_def/attr_def.h"

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

TEST(OpDef, ASignatureNamesOperandsAndResults) {
  const OpDef& momentum = *FindOpDef("ApplyMomentum");
  EXPECT_THAT(momentum.inputs(), ElementsAre("var", "accum", "lr", "grad", "momentum"));
  EXPECT_EQ(momentum.num_outputs(), 2);
  EXPECT_EQ(FindOpDef("Relu")->num_inputs(), 1);
  EXPECT_EQ(FindOpDef("Relu")->num_outputs(), 1);
  EXPECT_EQ(FindOpDef("NoOp")->num_outputs(), 0);
  EXPECT_EQ(FindOpDef("ConcatV2")->num_inputs(), -1);
  EXPECT_EQ(FindOpDef("Split")->num_outputs(), -1);
}

TEST(OpDef, AttributesAreReadOrFollowFromTheNode) {
  const std::vector<AttrDef> attrs = ParseAttrs("T=i0 Tk=i1 sorted:b=true type:t=int32! k:i");
  ASSERT_EQ(attrs.size(), 3u);
  EXPECT_EQ(attrs[0].name, "sorted");
  EXPECT_EQ(AttrToString(*attrs[0].default_value), "true");
  EXPECT_FALSE(attrs[0].only_default);
  EXPECT_EQ(std::get<DType>(*attrs[1].default_value), DType::kInt32);
  EXPECT_TRUE(attrs[1].only_default);
  EXPECT_EQ(attrs[2].kind, 'i');
  EXPECT_FALSE(attrs[2].default_value.has_value());
  EXPECT_EQ(ParseImpliedAttrs("T=i0 Tk=i1 k:i", 2).back().source, "i1");
  EXPECT_EQ(ParseImpliedAttrs("k:i", 2).front().name, "T");
  EXPECT_TRUE(ParseImpliedAttrs("k:i", 0).empty());
  EXPECT_TRUE(ParseImpliedAttrs("-", 2).empty());
}

TEST(OpDef, EveryRowParses) {
  for (const OpDef* row : OpDefs()) {
    for (const AttrDef& attr : ParseAttrs(row->attrs))
      EXPECT_TRUE(absl::StrContains("bifstlp", attr.kind)) << row->name << " " << attr.name;
    for (const ImpliedAttr& attr : ParseImpliedAttrs(row->attrs, row->num_inputs()))
      EXPECT_NE(attr.source, "") << row->name << " " << attr.name;
    const char* const with_bias = row->traits.with_bias;
    if (with_bias != nullptr) {
      EXPECT_NE(FindOpDef(with_bias), nullptr) << with_bias;
    }
  }
}

TEST(OpDef, AnOpOfAUserGetsARow) {
  AddOpDef("SomebodysOtherOp", {.stateful = true});
  ASSERT_NE(FindOpDef("SomebodysOtherOp"), nullptr);
  EXPECT_TRUE(TraitsOf("SomebodysOtherOp").stateful);
  AddOpDef("Relu", {.stateful = true});
  EXPECT_FALSE(TraitsOf("Relu").stateful);  // it has a row
}

}  // namespace
}  // namespace estimator
