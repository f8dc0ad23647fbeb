#include "estimator/data/pipeline/element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(ArrayMap, GetNamesTheNearestName) {
  const ArrayMap map{{"image", Array::Scalar<float>(1)}, {"label", Array::Scalar<float>(2)}};
  EXPECT_EQ(map.Get("label")->scalar<float>(), 2);
  EXPECT_THAT(
      map.Get("imge"),
      ErrorIs(
          "no array is named \"imge\"; there are \"image\", \"label\" (did you mean 'image'?)"));
}

TEST(ArrayMap, OnlyRefusesSeveral) {
  EXPECT_EQ(ArrayMap(Array::Scalar<float>(1)).Only()->scalar<float>(), 1);
  EXPECT_THAT(ArrayMap().Only(), ErrorIs("expected one array, but there is none"));
  const ArrayMap two{{"a", Array::Scalar<float>(1)}, {"b", Array::Scalar<float>(2)}};
  EXPECT_THAT(two.Only(),
              ErrorIs("expected one array, but there are 2: \"a\", \"b\"; use Get(name)"));
}

TEST(Element, PrintsItsTypes) {
  const Element element{.features = {{"image", Array(DType::kFloat32, {28, 28})}},
                        .labels = Array(DType::kInt32, {})};
  EXPECT_EQ(element.ToString(), "image f32 [28,28], labels i32 []");
}

}  // namespace
}  // namespace estimator
