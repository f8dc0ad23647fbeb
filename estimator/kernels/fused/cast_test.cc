#include <limits>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Attrs CastAttrs(DType from, DType to) {
  return {{"SrcT", from}, {"DstT", to}, {"Truncate", false}};
}

TEST(FusedCast, EachPairMatchesTheReferenceBitForBit) {
  Array wide = RandomArray({30000}, 1, -1000, 1000);
  wide.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  wide.data<float>()[1] = std::numeric_limits<float>::infinity();
  EXPECT_MATCHES_REFERENCE({.op = "Cast",
                            .attrs = CastAttrs(DType::kFloat32, DType::kBfloat16),
                            .outputs = {{DType::kBfloat16, {30000}}}},
                           {wide}, KernelTier::kFused, {});
  for (const DType from : {DType::kUint8, DType::kBool, DType::kInt32}) {
    EXPECT_MATCHES_REFERENCE(
        {.op = "Cast",
         .attrs = CastAttrs(from, DType::kBfloat16),
         .outputs = {{DType::kBfloat16, {30000}}}},
        {RandomArray({30000}, 3, 0, from == DType::kInt32 ? 70000 : 255).Cast(from)},
        KernelTier::kFused, {});
  }
  for (const DType from : {DType::kBfloat16, DType::kUint8, DType::kBool, DType::kInt32}) {
    EXPECT_MATCHES_REFERENCE({.op = "Cast",
                              .attrs = CastAttrs(from, DType::kFloat32),
                              .outputs = {{DType::kFloat32, {30000}}}},
                             {RandomArray({30000}, 2, 0, 255).Cast(from)}, KernelTier::kFused, {});
  }
}

}  // namespace
}  // namespace estimator
