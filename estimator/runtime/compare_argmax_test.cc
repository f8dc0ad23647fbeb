#include "estimator/runtime/compare_argmax.h"

#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator::ir {
namespace {

Tolerance Small(const Array&) { return {.relative = 1e-3, .absolute = 1e-3}; }

class CompareArgmaxTest : public ::testing::Test {
 protected:
  // A 1x1 convolution by 1: the activation is relu(x). Two windows of 2x2.
  CompareArgmaxTest() {
    spec_.inputs = {
        {DType::kFloat32, {1, 2, 4, 1}}, {DType::kFloat32, {1, 1, 1, 1}}, {DType::kFloat32, {1}}};
    spec_.outputs = {{DType::kFloat32, {1, 1, 2, 1}}, {DType::kUint8, {1, 1, 2, 1}}};
  }
  absl::Status Check(uint8_t first, uint8_t second) {
    const Array x = Array::Of<float>({1, 2, 4, 1}, {3, 3.0001f, -1, -2, 1, 2, -3, -1});
    Array places(DType::kUint8, {1, 1, 2, 1});
    places.data<uint8_t>()[0] = first;
    places.data<uint8_t>()[1] = second;
    return CheckArgmax(spec_, {x, Array::Of<float>({1, 1, 1, 1}, {1}), Array::Of<float>({1}, {0})},
                       {Array(DType::kFloat32, {1, 1, 2, 1}), places}, &Small);
  }

  KernelSpec spec_{.op = "_FusedConv2DMaxPool", .name = "block", .attrs = WithPool(ConvAttrs())};
};

TEST_F(CompareArgmaxTest, TheMaximumOrANearlyEqualOneIsRight) {
  EST_EXPECT_OK(Check(1, 4));
  EST_EXPECT_OK(Check(0, 4));  // 3 instead of 3.0001
  EST_EXPECT_OK(Check(1, 2));  // all are 0: relu is off, whichever tap is named
}

TEST_F(CompareArgmaxTest, ASmallerActivationIsWrong) {
  EXPECT_THAT(Check(3, 4), ErrorHas("at [0,0,0,0] tap 3 has the activation 2, and the maximum is"));
  EXPECT_THAT(Check(4, 4), ErrorHas("tap 4 has the activation 0"));
  EXPECT_THAT(Check(1, 9), ErrorHas("at [0,0,1,0] tap 9 is not in the window"));
}

// The same numbers in blocks of channels.
TEST_F(CompareArgmaxTest, BlocksAreCheckedAsNhwc) {
  spec_.attrs.Set("data_format", std::string(kBlockedFormat));
  spec_.inputs = {
      {DType::kFloat32, {1, 2, 2, 2, 8}}, {DType::kFloat32, {1, 1, 16, 8}}, {DType::kFloat32, {8}}};
  const Array plain = RandomArray({1, 2, 2, 16}, 1), filter = RandomArray({1, 1, 16, 8}, 2),
              bias = RandomArray({8}, 3, 5, 6);  // no activation is 0
  KernelSpec nhwc = spec_;
  nhwc.inputs = {};
  nhwc.attrs.Set("data_format", std::string(kPlainFormat));
  nhwc.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
  nhwc.outputs = {{DType::kFloat32, {1, 1, 1, 8}}, {DType::kUint8, {1, 1, 1, 8}}};
  const auto expected = RunReferenceKernel(nhwc, {plain, filter, bias});
  EST_ASSERT_OK(expected);
  Array places = InBlocks((*expected)[1], 8);
  const std::vector<Array> inputs = {InBlocks(plain, 8), filter, bias};
  EST_EXPECT_OK(CheckArgmax(spec_, inputs, {(*expected)[0], places}, &Small));
  places.data<uint8_t>()[5] = 4;
  EXPECT_THAT(CheckArgmax(spec_, inputs, {(*expected)[0], places}, &Small),
              ErrorHas("at [0,0,0,5] tap 4 has the activation 0"));
}

}  // namespace
}  // namespace estimator::ir
