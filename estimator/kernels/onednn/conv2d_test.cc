#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/onednn/dnnl_api.h"
#include "estimator/kernels/onednn/primitive_chain.h"
#include "estimator/kernels/onednn/testing/activations.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/window.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using onednn::Chain;
using onednn::kActivations;
using onednn::SetFusedOps;

// Both sum the same products in f32 in another order: an error of a few units in the last place for
// each of the K products of a sum, K <= 3200 here, with terms below 1.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 2e-4};

struct Case {
  Shape input;
  Shape filter;
  Attrs attrs;
};

std::vector<Case> Cases() {
  return {
      {{4, 28, 28, 1}, {5, 5, 1, 32}, ConvAttrs(1, "SAME")},  // MNIST's
      {{2, 14, 14, 32}, {5, 5, 32, 64}, ConvAttrs(1, "SAME")},
      {{2, 9, 7, 3}, {3, 2, 3, 8}, ConvAttrs(2, "SAME")},
      {{3, 8, 9, 5}, {3, 3, 5, 7}, ConvAttrs(2, "VALID")},  // the stride leaves a column unread
      {{2, 6, 6, 16}, {1, 1, 16, 24}, ConvAttrs(1, "VALID")},
      {{2, 6, 7, 4}, {3, 3, 4, 8}, ConvAttrs(1, "EXPLICIT")},
      {{2, 11, 10, 3}, {7, 7, 3, 16}, ConvAttrs(2, "EXPLICIT")},  // ResNet's first
  };
}

Shape OutputOf(const Case& c, bool depthwise) {
  const auto geometry = MakeConvGeometry(c.attrs, c.input, c.filter, depthwise);
  EST_EXPECT_OK(geometry);
  return geometry->output();
}

Array Sizes(const Shape& shape) {
  Array sizes(DType::kInt32, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
  return sizes;
}

void ExpectAllThreeMatch(const Case& c, const std::string& op, const std::string& gradient_prefix,
                         bool depthwise) {
  SCOPED_TRACE(c.input.ToString() + " " + c.filter.ToString());
  const Shape output = OutputOf(c, depthwise);
  const Array x = RandomArray(c.input, 1), filter = RandomArray(c.filter, 2),
              dy = RandomArray(output, 3);
  EXPECT_MATCHES_REFERENCE({.op = op, .attrs = c.attrs, .outputs = {{DType::kFloat32, output}}},
                           {x, filter}, KernelTier::kOneDnn, kSummationOrder);
  EXPECT_MATCHES_REFERENCE({.op = gradient_prefix + "BackpropInput",
                            .attrs = c.attrs,
                            .outputs = {{DType::kFloat32, c.input}}},
                           {Sizes(c.input), filter, dy}, KernelTier::kOneDnn, kSummationOrder);
  EXPECT_MATCHES_REFERENCE({.op = gradient_prefix + "BackpropFilter",
                            .attrs = c.attrs,
                            .outputs = {{DType::kFloat32, c.filter}}},
                           {x, Sizes(c.filter), dy}, KernelTier::kOneDnn, kSummationOrder);
}

TEST(OneDnnConv2D, ForwardAndBothGradientsMatchTheReference) {
  for (const Case& c : Cases()) ExpectAllThreeMatch(c, "Conv2D", "Conv2D", false);
}

// The blocks are those that oneDNN chooses on this CPU: of 16 channels with AVX-512, else of 8.
TEST(OneDnnConv2D, OneSizeOfBlocksIsTakenAndMatchesTheReference) {
  const std::vector<Case> cases = {{{2, 14, 14, 32}, {5, 5, 32, 64}, ConvAttrs(1, "SAME")},
                                   {{2, 9, 7, 16}, {3, 3, 16, 32}, ConvAttrs(2, "SAME")},
                                   {{2, 8, 8, 64}, {1, 1, 64, 32}, ConvAttrs(1, "VALID")}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.filter.ToString());
    const Array x = RandomArray(c.input, 1), filter = RandomArray(c.filter, 2),
                dy = RandomArray(OutputOf(c, false), 3);
    const KernelSpec forward{
        .op = "Conv2D", .name = "y", .attrs = c.attrs, .outputs = {{DType::kFloat32, dy.shape()}}};
    const KernelSpec to_input{.op = "Conv2DBackpropInput",
                              .name = "dx",
                              .attrs = c.attrs,
                              .outputs = {{DType::kFloat32, c.input}}};
    const KernelSpec to_filter{.op = "Conv2DBackpropFilter",
                               .name = "df",
                               .attrs = c.attrs,
                               .outputs = {{DType::kFloat32, c.filter}}};
    const std::vector<Array> input_args = {Sizes(c.input), filter, dy},
                             filter_args = {x, Sizes(c.filter), dy};
    const auto y = RunReferenceKernel(forward, {x, filter});
    const auto dx = RunReferenceKernel(to_input, input_args);
    const auto df = RunReferenceKernel(to_filter, filter_args);
    EST_ASSERT_OK(y);
    EST_ASSERT_OK(dx);
    EST_ASSERT_OK(df);
    int taken = 0;
    for (const int64_t block : {8, 16}) {
      const std::string difference = DifferenceInBlocks(forward, {x, filter}, *y, {0}, {0}, block,
                                                        KernelTier::kOneDnn, kSummationOrder);
      if (difference.rfind("UNIMPLEMENTED", 0) == 0) continue;
      ++taken;
      EXPECT_EQ(difference, "");
      const std::string dx_difference = DifferenceInBlocks(
          to_input, input_args, *dx, {2}, {0}, block, KernelTier::kOneDnn, kSummationOrder);
      // oneDNN 3 has none if the strides are not 1.
      const bool may_lack_dx = onednn::kOneDnn3 && dy.shape().dim(1) != c.input.dim(1);
      if (!may_lack_dx || dx_difference.rfind("UNIMPLEMENTED", 0) != 0) {
        EXPECT_EQ(dx_difference, "");
      }
      EXPECT_EQ(DifferenceInBlocks(to_filter, filter_args, *df, {0, 2}, {}, block,
                                   KernelTier::kOneDnn, kSummationOrder),
                "");
    }
    EXPECT_EQ(taken, 1);
  }
}

TEST(OneDnnConv2D, DilatedForwardMatchesTheReference) {
  const Case c{{2, 10, 11, 8}, {3, 3, 8, 16}, ConvAttrs(1, "SAME", 2)};
  EXPECT_MATCHES_REFERENCE(
      {.op = "Conv2D", .attrs = c.attrs, .outputs = {{DType::kFloat32, OutputOf(c, false)}}},
      {RandomArray(c.input, 1), RandomArray(c.filter, 2)}, KernelTier::kOneDnn, kSummationOrder);
}

TEST(OneDnnConv2D, DilatedGradientsAreLeftToTheReference) {
  const Case c{{2, 10, 11, 8}, {3, 3, 8, 16}, ConvAttrs(1, "SAME", 2)};
  const KernelSpec spec = CompleteSpec(
      {.op = "Conv2DBackpropInput", .attrs = c.attrs, .outputs = {{DType::kFloat32, c.input}}},
      {Sizes(c.input), RandomArray(c.filter, 1), RandomArray(OutputOf(c, false), 2)});
  EXPECT_FALSE(TierAccepts(spec, KernelTier::kOneDnn));
}

TEST(OneDnnConv2D, DepthwiseMatchesTheReference) {
  ExpectAllThreeMatch({{2, 8, 9, 16}, {3, 3, 16, 1}, ConvAttrs(1, "SAME")}, "DepthwiseConv2dNative",
                      "DepthwiseConv2dNative", true);
  ExpectAllThreeMatch({{2, 8, 9, 8}, {3, 3, 8, 1}, ConvAttrs(2, "VALID")}, "DepthwiseConv2dNative",
                      "DepthwiseConv2dNative", true);
  ExpectAllThreeMatch({{2, 8, 9, 8}, {3, 2, 8, 1}, ConvAttrs(1, "SAME")}, "DepthwiseConv2dNative",
                      "DepthwiseConv2dNative", true);
}

TEST(OneDnnConv2D, FusedBiasReluAndSideInputMatchTheUnfusedChain) {
  const Case c{{2, 14, 14, 32}, {5, 5, 32, 64}, ConvAttrs(1, "SAME")};
  const Shape output = OutputOf(c, false);
  const Array x = RandomArray(c.input, 1), filter = RandomArray(c.filter, 2),
              bias = RandomArray({64}, 3);
  const Array side = RandomArray(output, 4);
  const KernelSpec conv{
      .op = "Conv2D", .name = "conv", .attrs = c.attrs, .outputs = {{DType::kFloat32, output}}};
  const auto plain = RunReferenceKernel(conv, {x, filter});
  EST_ASSERT_OK(plain);
  for (const std::string activation : kActivations) {
    for (const bool with_side : {false, true}) {
      const Array expected = Chain(activation, (*plain)[0], bias, with_side ? &side : nullptr);
      KernelSpec fused = conv;
      fused.op = "_FusedConv2D";
      SetFusedOps(activation, fused);
      std::vector<Array> inputs = {x, filter, bias};
      if (with_side) inputs.push_back(side);
      const auto actual = RunKernel(fused, inputs, KernelTier::kOneDnn);
      EST_ASSERT_OK(actual);
      const Difference difference = Compare((*actual)[0], expected, kSummationOrder);
      EXPECT_TRUE(difference.equal)
          << activation << " side " << with_side << ": " << difference.report;
    }
  }
}

TEST(OneDnnConv2D, FusedDepthwiseMatchesTheUnfusedChainAlsoInBlocks) {
  for (const Case& c : {Case{{2, 8, 9, 16}, {3, 3, 16, 1}, ConvAttrs(1, "SAME")},
                        Case{{2, 9, 7, 32}, {3, 3, 32, 1}, ConvAttrs(2, "VALID")}}) {
    const Shape output = OutputOf(c, true);
    const int64_t channels = output[3];
    const Array x = RandomArray(c.input, 1), filter = RandomArray(c.filter, 2),
                bias = RandomArray({channels}, 3), side = RandomArray(output, 4);
    KernelSpec spec{.op = "DepthwiseConv2dNative",
                    .name = "conv",
                    .attrs = c.attrs,
                    .outputs = {{DType::kFloat32, output}}};
    const auto plain = RunReferenceKernel(spec, {x, filter});
    EST_ASSERT_OK(plain);
    spec.op = "_FusedDepthwiseConv2dNative";
    for (const std::string activation : kActivations) {
      for (const bool with_side : {false, true}) {
        SCOPED_TRACE(testing::Message() << output << " " << activation << " side " << with_side);
        const Array expected = Chain(activation, (*plain)[0], bias, with_side ? &side : nullptr);
        SetFusedOps(activation, spec);
        std::vector<Array> inputs = {x, filter, bias};
        std::vector<size_t> images = {0};
        if (with_side) {
          inputs.push_back(side);
          images.push_back(3);
        }
        const auto actual = RunKernel(spec, inputs, KernelTier::kOneDnn);
        EST_ASSERT_OK(actual);
        EXPECT_EQ(Compare((*actual)[0], expected, kSummationOrder).report, "");
        int taken = 0;
        for (const int64_t block : {8, 16}) {
          const std::string difference = DifferenceInBlocks(
              spec, inputs, {expected}, images, {0}, block, KernelTier::kOneDnn, kSummationOrder);
          if (difference.rfind("UNIMPLEMENTED", 0) == 0) continue;
          ++taken;
          EXPECT_EQ(difference, "");
        }
        EXPECT_EQ(taken, 1);
      }
    }
  }
}

TEST(OneDnnConv2D, MnistShapesUseCompiledImplementationsNotOneDnnsReference) {
  for (const int64_t batch : {128, 1024}) {
    for (Case c : {Cases()[0], Cases()[1]}) {
      c.input.set_dim(0, batch);
      const TensorSpec x{DType::kFloat32, c.input}, filter{DType::kFloat32, c.filter};
      const TensorSpec y{DType::kFloat32, OutputOf(c, false)}, sizes{DType::kInt32, Shape{4}};
      const std::vector<KernelSpec> specs = {
          {.op = "Conv2D", .name = "y", .attrs = c.attrs, .inputs = {x, filter}, .outputs = {y}},
          {.op = "Conv2DBackpropInput",
           .name = "dx",
           .attrs = c.attrs,
           .inputs = {sizes, filter, y},
           .outputs = {x}},
          {.op = "Conv2DBackpropFilter",
           .name = "df",
           .attrs = c.attrs,
           .inputs = {x, sizes, y},
           .outputs = {filter}},
      };
      for (const KernelSpec& spec : specs) {
        const auto kernel = CreateKernel(spec);
        EST_ASSERT_OK(kernel);
        const auto* chain = dynamic_cast<const onednn::PrimitiveChain*>(kernel->get());
        ASSERT_NE(chain, nullptr) << spec.op;
        EXPECT_TRUE(chain->implementation().rfind("jit", 0) == 0 ||
                    chain->implementation().rfind("brg", 0) == 0)
            << spec.op << " " << c.input << ": " << chain->implementation();
      }
    }
  }
}

}  // namespace
}  // namespace estimator
