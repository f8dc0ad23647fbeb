#include "estimator/training/input/batch_axis.h"

#include <string>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Images [2, 1, 3] whose batch stands last: image n is {n, 10 + n}; names and labels [3].
Element ThreeImages() {
  return {.features = {{"image", Array::Of<float>({2, 1, 3}, {0, 1, 2, 10, 11, 12})},
                       {"name", Array::Of<std::string>({1, 3}, {"a", "b", "c"})}},
          .labels = Array::Of<int32_t>({3}, {7, 8, 9})};
}
const BatchAxis& Last() {
  static const auto* const last = new BatchAxis({2, 1, 0});
  return *last;
}

TEST(BatchAxis, CountsRowsWhereTheyStand) {
  EXPECT_EQ(Last().NumRows(ThreeImages()), 3);
  EXPECT_EQ(BatchAxis().NumRows(ThreeImages()), 2) << "axis 0 of the first array";
}

TEST(BatchAxis, SlicesEveryArrayOnItsAxis) {
  const auto part = Last().Slice(ThreeImages(), 1, 3, 3);
  EST_ASSERT_OK(part);
  EXPECT_EQ(part->features.at("image").ToString(),
            Array::Of<float>({2, 1, 2}, {1, 2, 11, 12}).ToString());
  EXPECT_EQ(part->features.at("name").ToString(),
            Array::Of<std::string>({1, 2}, {"b", "c"}).ToString());
  EXPECT_EQ(part->labels.at("").ToString(), Array::Of<int32_t>({2}, {8, 9}).ToString());
}

TEST(BatchAxis, JoinsWhatItSliced) {
  const Element whole = ThreeImages();
  const auto joined = Last().Join({*Last().Slice(whole, 0, 1, 3), *Last().Slice(whole, 1, 1, 3),
                                   *Last().Slice(whole, 1, 3, 3)});
  EST_ASSERT_OK(joined);
  EXPECT_EQ(joined->features.at("image").ToString(), whole.features.at("image").ToString());
  EXPECT_EQ(joined->features.at("name").ToString(), whole.features.at("name").ToString());
  EXPECT_EQ(joined->labels.at("").ToString(), whole.labels.at("").ToString());
}

TEST(BatchAxis, WithoutAListSlicesShareTheBytes) {
  const Element whole{.features = Array(DType::kFloat32, {4, 2}), .labels = {}};
  const auto part = BatchAxis().Slice(whole, 2, 4, 4);
  EST_ASSERT_OK(part);
  EXPECT_EQ(part->features.at("").raw(), whole.features.at("").data<float>() + 4);
}

TEST(BatchAxis, AnArrayWithoutTheBatchOnItsAxisIsNamed) {
  const auto error = [](std::vector<int64_t> axes) {
    return BatchAxis(std::move(axes)).Slice(ThreeImages(), 0, 1, 3).status();
  };
  EXPECT_THAT(error({1, 1, 0}), ErrorHas("features['image'] is f32 [2,1,3]; to split it over the "
                                         "replicas, its axis 1 must be the batch of 3"));
  EXPECT_THAT(error({2, 1, 1}), ErrorHas("labels is i32 [3]; to split it over the replicas, its "
                                         "axis 1 must be the batch of 3"));
}

TEST(BatchAxis, OneAxisIsNeededForEachArray) {
  EST_EXPECT_OK(Last().Check(ThreeImages()));
  EST_EXPECT_OK(BatchAxis().Check(ThreeImages()));
  EXPECT_THAT(
      BatchAxis({2, 0}).Check(ThreeImages()),
      ErrorIs("batch_axis has 2 entries; it needs one for each array of input_fn, features in name "
              "order, then labels: features['image'], features['name'], labels"));
}

TEST(BatchAxis, ArraysThatDifferInMoreThanTheirRowsAreNotJoined) {
  const auto join = [](Array other) {
    Element with = ThreeImages();
    with.features["image"] = std::move(other);
    return Last().Join({ThreeImages(), with}).status();
  };
  EST_EXPECT_OK(join(Array(DType::kFloat32, {2, 1, 5})));
  EXPECT_THAT(join(Array(DType::kFloat32, {2, 2, 3})),
              ErrorHas("features['image'] is f32 [2,1,3] in one batch of input_fn and f32 [2,2,3] "
                       "in the next"));
  EXPECT_THAT(join(Array(DType::kInt32, {2, 1, 3})), ErrorHas("and i32 [2,1,3] in the next"));
  EXPECT_THAT(join(Array::Scalar(1.0f)), ErrorHas("and f32 [] in the next"));
}

}  // namespace
}  // namespace estimator
