#include "estimator/data/transforms/cast_arrays.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Dataset Halves() {
  return Dataset::FromTensorSlices(
      {.features = {{"x", Array::Of<float>({3, 2}, {0, 1, -2, .5f, 1000, 3}).Cast(DType::kFloat16)},
                    {"name", Array::Strings({"a", "b", "c"})}},
       .labels = Array::Of<float>({3}, {1, 2, 3}).Cast(DType::kFloat16)});
}

TEST(CastArrays, CastsTheArraysOfOneDtypeInFeaturesAndLabels) {
  const Dataset dataset = CastArrays(Halves().Batch(2), DType::kFloat16, DType::kFloat32);
  ASSERT_TRUE(dataset.element_spec().has_value());
  EXPECT_EQ(dataset.element_spec()->ToString(), "name str [?], x f32 [?,2], labels f32 [?]");
  EST_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  EST_ASSERT_OK_AND_ASSIGN(const std::optional<Element> first, iterator->Next());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->ToString(), "name str [2], x f32 [2,2], labels f32 [2]");
  EXPECT_EQ(first->features.at("x").values<float>(), (std::vector<float>{0, 1, -2, .5f}));
}

TEST(CastArrays, StringsAreRefused) {
  EST_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator,
                           CastArrays(Halves(), DType::kString, DType::kFloat32).MakeIterator());
  EXPECT_THAT(iterator->Next(), ErrorHas("CastArrays casts numbers to numbers, not string to"));
}

}  // namespace
}  // namespace estimator
