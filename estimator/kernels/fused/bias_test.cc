#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(FusedBias, BiasAddMatchesTheReferenceBitForBit) {
  EXPECT_MATCHES_REFERENCE({.op = "BiasAdd",
                            .attrs = {{"data_format", std::string("NHWC")}},
                            .outputs = {{DType::kFloat32, {7, 9, 11, 33}}}},
                           {RandomArray({7, 9, 11, 33}, 1), RandomArray({33}, 2)},
                           KernelTier::kFused, {});
}

// Runs of 64 rows are summed in f32, of values below 1.
TEST(FusedBias, BiasAddGradMatchesTheReference) {
  for (const Shape& shape : {Shape{16, 28, 28, 32}, Shape{1024, 10}, Shape{3, 1}}) {
    EXPECT_MATCHES_REFERENCE({.op = "BiasAddGrad",
                              .attrs = {{"data_format", std::string("NHWC")}},
                              .outputs = {{DType::kFloat32, {shape[-1]}}}},
                             {RandomArray(shape, 1)}, KernelTier::kFused,
                             {.relative = 1e-6, .absolute = 2e-5});
  }
}

TEST(FusedBias, BlocksOfChannelsGiveTheSame) {
  const Array x = RandomArray({3, 5, 7, 32}, 1), bias = RandomArray({32}, 2);
  const KernelSpec add{.op = "BiasAdd", .name = "b", .outputs = {{DType::kFloat32, x.shape()}}};
  const KernelSpec grad{.op = "BiasAddGrad", .name = "g", .outputs = {{DType::kFloat32, {32}}}};
  const auto y = RunReferenceKernel(add, {x, bias}), sums = RunReferenceKernel(grad, {x});
  EST_ASSERT_OK(y);
  EST_ASSERT_OK(sums);
  for (const int64_t block : {1, 4, 8, 16}) {
    EXPECT_EQ(DifferenceInBlocks(add, {x, bias}, *y, {0}, {0}, block, KernelTier::kFused, {}), "");
    EXPECT_EQ(DifferenceInBlocks(grad, {x}, *sums, {0}, {}, block, KernelTier::kFused,
                                 {.relative = 1e-6, .absolute = 2e-5}),
              "");
  }
}

}  // namespace
}  // namespace estimator
