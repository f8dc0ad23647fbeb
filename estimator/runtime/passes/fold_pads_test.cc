#include "estimator/runtime/passes/fold_pads.h"

#include <string>
#include <vector>

#include "estimator/kernels/window.h"
#include "estimator/runtime/passes/testing/pass_module.h"
#include "gtest/gtest.h"

namespace estimator::ir {
namespace {

Array Ints(const std::vector<int64_t>& values) {
  Array array(DType::kInt32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    array.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  return array;
}

class FoldPadsTest : public ::testing::Test {
 protected:
  static constexpr int64_t kRows = 6, kColumns = 7;

  Value Pad(Value x, const std::vector<int64_t>& paddings, const char* op = "Pad",
            float value = 0) {
    Shape shape = b_.module.spec(x).shape;
    for (int axis = 0; axis < 4; ++axis) {
      const auto at = static_cast<size_t>(2 * axis);
      shape.set_dim(axis, shape[axis] + paddings[at] + paddings[at + 1]);
    }
    Array pairs = Ints(paddings).Reshaped({4, 2});
    std::vector<Value> inputs = {x, b_.Constant(std::move(pairs))};
    if (std::string(op) == "PadV2") inputs.push_back(b_.Scalar(value));
    return b_.Op(op, inputs, shape);
  }
  Shape OutputOf(const Shape& input, const Shape& filter, const Attrs& attrs, bool depthwise) {
    const auto geometry = MakeConvGeometry(attrs, input, filter, depthwise);
    EXPECT_TRUE(geometry.ok()) << geometry.status();
    return geometry->output();
  }
  Value Conv(Value x, Value filter, const Attrs& attrs, bool depthwise = false) {
    const Shape shape =
        OutputOf(b_.module.spec(x).shape, b_.module.spec(filter).shape, attrs, depthwise);
    return b_.Op(depthwise ? "DepthwiseConv2dNative" : "Conv2D", {x, filter}, shape, attrs);
  }
  // The convolution of the padded feed 0 with feed 1, and both gradients for the feed 2.
  void Build(const std::vector<int64_t>& paddings, const Attrs& attrs, bool depthwise = false) {
    const std::string prefix = depthwise ? "DepthwiseConv2dNative" : "Conv2D";
    const Shape image{2, kRows, kColumns, 3}, filter_shape{3, 3, 3, 4};
    const Value x = b_.Feed(image), filter = b_.Feed(filter_shape);
    const Value padded = Pad(x, paddings);
    const Shape padded_shape = b_.module.spec(padded).shape;
    const Value y = Conv(padded, filter, attrs, depthwise);
    const Value dy = b_.Feed(b_.module.spec(y).shape);
    b_.Fetch(y);
    b_.Fetch(b_.Op(prefix + "BackpropFilter", {padded, b_.Constant(Ints(filter_shape.dims())), dy},
                   filter_shape, attrs));
    const Value whole =
        b_.Op(prefix + "BackpropInput", {b_.Constant(Ints(padded_shape.dims())), filter, dy},
              padded_shape, attrs);
    b_.Fetch(b_.Op("Slice",
                   {whole, b_.Constant(Ints({0, paddings[2], paddings[4], 0})),
                    b_.Constant(Ints(image.dims()))},
                   image));
    feeds_ = {Numbers(image, 1), Numbers(filter_shape, 2), Numbers(b_.module.spec(y).shape, 3)};
  }
  // The number of nodes that write padded images after the pass. The values must not change.
  int LeftAfterFolding() {
    const Module before = b_.module;
    FoldPads(b_.module);
    EXPECT_EQ(DifferenceOf(before, b_.module, feeds_), "");
    return Count(b_.module, "Pad") + Count(b_.module, "PadV2") + Count(b_.module, "Slice");
  }

  ModuleBuilder b_;
  std::vector<Array> feeds_;
};

TEST_F(FoldPadsTest, AConvolutionAndItsGradientsPadThemselves) {
  Build({0, 0, 1, 1, 1, 1, 0, 0}, ConvAttrs(2, "VALID"));
  EXPECT_EQ(LeftAfterFolding(), 0);
  EXPECT_EQ(Only(b_.module, "Conv2D").attrs.ints("explicit_paddings"),
            (std::vector<int64_t>{0, 0, 1, 1, 1, 1, 0, 0}));
}

TEST_F(FoldPadsTest, EachSideHasItsOwnWidth) {
  Build({0, 0, 2, 0, 0, 1, 0, 0}, ConvAttrs(1, "VALID"));
  EXPECT_EQ(LeftAfterFolding(), 0);
}

TEST_F(FoldPadsTest, ThePaddingOfTheConvolutionIsAdded) {
  Build({0, 0, 1, 0, 1, 1, 0, 0}, ConvAttrs(1, "SAME"));
  EXPECT_EQ(LeftAfterFolding(), 0);
  EXPECT_EQ(Only(b_.module, "Conv2D").attrs.ints("explicit_paddings"),
            (std::vector<int64_t>{0, 0, 2, 1, 2, 2, 0, 0}));
}

TEST_F(FoldPadsTest, DepthwiseConvolutionsPadThemselvesToo) {
  Build({0, 0, 1, 1, 1, 1, 0, 0}, ConvAttrs(2, "VALID"), /*depthwise=*/true);
  EXPECT_EQ(LeftAfterFolding(), 0);
}

TEST_F(FoldPadsTest, APadAsWideAsTheWindowStays) {
  Build({0, 0, 3, 0, 0, 0, 0, 0}, ConvAttrs(1, "VALID"));
  EXPECT_EQ(LeftAfterFolding(), 2);
}

TEST_F(FoldPadsTest, APadAlongTheBatchStays) {
  const Value x = b_.Feed({2, kRows, kColumns, 3}), filter = b_.Feed({3, 3, 3, 4});
  b_.Fetch(Conv(Pad(x, {1, 0, 1, 1, 1, 1, 0, 0}), filter, ConvAttrs(1, "VALID")));
  feeds_ = {Numbers({2, kRows, kColumns, 3}, 1), Numbers({3, 3, 3, 4}, 2)};
  EXPECT_EQ(LeftAfterFolding(), 1);
}

TEST_F(FoldPadsTest, APadWithAnotherValueStays) {
  const Value x = b_.Feed({2, kRows, kColumns, 3}), filter = b_.Feed({3, 3, 3, 4});
  b_.Fetch(Conv(Pad(x, {0, 0, 1, 1, 1, 1, 0, 0}, "PadV2", 1), filter, ConvAttrs(1, "VALID")));
  b_.Fetch(Conv(Pad(x, {0, 0, 1, 1, 1, 1, 0, 0}, "PadV2", 0), filter, ConvAttrs(1, "VALID")));
  feeds_ = {Numbers({2, kRows, kColumns, 3}, 1), Numbers({3, 3, 3, 4}, 2)};
  EXPECT_EQ(LeftAfterFolding(), 1);
}

TEST_F(FoldPadsTest, APaddedImageThatIsFetchedStays) {
  Build({0, 0, 1, 1, 1, 1, 0, 0}, ConvAttrs(1, "VALID"));
  b_.Fetch(b_.node(b_.module.fetches[0]).inputs[0]);
  EXPECT_EQ(LeftAfterFolding(), 1);  // the gradient of the image is folded
}

TEST_F(FoldPadsTest, ASliceOfAGradientThatOthersReadStays) {
  Build({0, 0, 1, 1, 1, 1, 0, 0}, ConvAttrs(1, "VALID"));
  b_.Fetch(b_.node(b_.module.fetches[2]).inputs[0]);
  EXPECT_EQ(LeftAfterFolding(), 1);
}

}  // namespace
}  // namespace estimator::ir
