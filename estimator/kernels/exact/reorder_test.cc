#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

KernelSpec ReorderTo(const char* format, DType dtype, const Shape& shape) {
  return {.op = kReorderOp,
          .name = "r",
          .attrs = {{"to", std::string(format)}},
          .outputs = {{dtype, shape}}};
}

TEST(Reorder, BothWaysInEveryBlockAndDtype) {
  const Shape plain{3, 5, 7, 48};
  for (const int64_t block : {1, 3, 8, 16, 48}) {
    const Shape blocked = BlockedShape(plain, block);
    for (const DType dtype : {DType::kFloat32, DType::kUint8, DType::kBfloat16}) {
      const Array x = RandomArray(plain, 1, 0, 200).Cast(dtype);
      EXPECT_MATCHES_SOURCES(ReorderTo(kBlockedFormat, dtype, blocked), {x},
                             [&](size_t, const std::vector<int64_t>& i) {
                               return Source{&x, {i[0], i[2], i[3], i[1] * block + i[4]}};
                             });
      const auto there =
          RunKernel(ReorderTo(kBlockedFormat, dtype, blocked), {x}, KernelTier::kFused);
      EST_ASSERT_OK(there);
      const auto back =
          RunKernel(ReorderTo(kPlainFormat, dtype, plain), {(*there)[0]}, KernelTier::kFused);
      EST_ASSERT_OK(back);
      EXPECT_TRUE(SameBits((*back)[0], x)) << DTypeName(dtype) << " block " << block;
    }
  }
}

TEST(Reorder, AChannelOfABlockIsWhereItsNameSays) {
  Array x(DType::kFloat32, {1, 1, 2, 4});  // two pixels of four channels
  for (int i = 0; i < 8; ++i) x.data<float>()[i] = static_cast<float>(i);
  const auto blocked =
      RunReferenceKernel(ReorderTo(kBlockedFormat, DType::kFloat32, {1, 2, 1, 2, 2}), {x});
  EST_ASSERT_OK(blocked);
  const float expected[8] = {0, 1, 4, 5, 2, 3, 6, 7};
  for (int i = 0; i < 8; ++i) EXPECT_EQ((*blocked)[0].data<float>()[i], expected[i]) << i;
}

TEST(Reorder, ShapesThatDoNotFitHaveNoKernel) {
  const Array x(DType::kFloat32, {1, 1, 2, 4});
  for (const Shape& blocked : {Shape{1, 2, 1, 2, 3}, Shape{1, 1, 1, 2, 2}, Shape{1, 1, 2, 4}}) {
    EXPECT_FALSE(RunReferenceKernel(ReorderTo(kBlockedFormat, DType::kFloat32, blocked), {x}).ok())
        << blocked.ToString();
  }
}

}  // namespace
}  // namespace estimator
