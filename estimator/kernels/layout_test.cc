#include "estimator/kernels/layout.h"

#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

TEST(Layout, BlockedAndPlainShapesAreEachOthersInverse) {
  EXPECT_EQ(BlockedShape({2, 5, 7, 32}, 16), (Shape{2, 2, 5, 7, 16}));
  EXPECT_EQ(BlockedShape({2, 5, 7, 3}, 1), (Shape{2, 3, 5, 7, 1}));
  EXPECT_EQ(PlainShape({2, 2, 5, 7, 16}), (Shape{2, 5, 7, 32}));
}

TEST(Layout, EveryBlockOfAnImageIsAnImageToAPool) {
  const KernelSpec spec = BlocksAsImages({.op = "MaxPool",
                                          .attrs = {{"data_format", std::string(kBlockedFormat)}},
                                          .inputs = {{DType::kFloat32, {2, 4, 8, 6, 16}}},
                                          .outputs = {{DType::kFloat32, {2, 4, 4, 3, 16}}}});
  EXPECT_EQ(spec.inputs[0].shape, (Shape{8, 8, 6, 16}));
  EXPECT_EQ(spec.outputs[0].shape, (Shape{8, 4, 3, 16}));
  EXPECT_EQ(spec.attrs.s("data_format"), kPlainFormat);
}

TEST(Layout, PlanesKnowTheirChannels) {
  const ChannelPlanes blocked = PlanesOf({2, 4, 8, 6, 16}, true);
  EXPECT_EQ(blocked.planes(), 8);
  EXPECT_EQ(blocked.channels(), 64);
  EXPECT_EQ(blocked.count(), 96);
  EXPECT_EQ(blocked.first_channel(6), 32);
  const ChannelPlanes plain = PlanesOf({2, 8, 6, 64}, false);
  EXPECT_EQ(plain.planes(), 1);
  EXPECT_EQ(plain.channels(), 64);
  EXPECT_EQ(plain.count(), 96);
}

}  // namespace
}  // namespace estimator
