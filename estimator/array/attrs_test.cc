#include "estimator/array/attrs.h"

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(Attrs, ReadByTypeAndPrintInNameOrder) {
  const Attrs attrs = {{"padding", std::string("SAME")},
                       {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                       {"epsilon", 0.5f},
                       {"T", DType::kFloat32},
                       {"keep", true}};
  EXPECT_EQ(attrs.s("padding"), "SAME");
  EXPECT_EQ(attrs.ints("strides")[1], 2);
  EXPECT_EQ(attrs.f("epsilon"), 0.5f);
  EXPECT_TRUE(attrs.b("keep"));
  EXPECT_FALSE(attrs.has("nothing"));
  EXPECT_EQ(attrs.ToString(), "T=float32, epsilon=0.5, keep=true, padding=SAME, strides=[1,2,2,1]");
}

TEST(Attrs, ComparesArraysByTheirBits) {
  const Attrs a = {{"value", Array::Scalar(1.0f)}};
  EXPECT_TRUE(a == (Attrs{{"value", Array::Scalar(1.0f)}}));
  EXPECT_FALSE(a == (Attrs{{"value", Array::Scalar(2.0f)}}));
  EXPECT_FALSE(a == (Attrs{{"value", 1.0f}}));
}

}  // namespace
}  // namespace estimator
