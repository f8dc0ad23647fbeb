#include "estimator/data/pipeline/element_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

constexpr int64_t kUnknown = Shape::kUnknownDim;

ElementSpec Images() {
  return {.features = {{"image", {DType::kUint8, Shape{28, 28}}}},
          .labels = {{DType::kInt32, Shape{}}}};
}

TEST(ElementSpec, PrintsNamesDTypesAndShapes) {
  EXPECT_EQ(Images().ToString(), "image u8 [28,28], labels i32 []");
  EXPECT_EQ((ArraySpec{DType::kFloat32, Shape{kUnknown, 3}}).ToString(), "f32 [?,3]");
  EXPECT_EQ((ArraySpec{DType::kString, std::nullopt}).ToString(), "str of unknown rank");
  EXPECT_EQ(SpecOf({.features = {{"image", Array(DType::kUint8, {28, 28})}},
                    .labels = Array::Scalar<int32_t>(3)}),
            Images());
}

TEST(ElementSpec, OfAnotherComponentIsNamedWithBothTypes) {
  const auto check = [](const ElementSpec& actual, CompareShapes shapes) {
    return CheckSpec(Images(), "dataset 0", actual, "dataset 1", shapes);
  };
  ElementSpec other = Images();
  EST_EXPECT_OK(check(other, CompareShapes::kYes));
  other.features["image"].shape = Shape{kUnknown, 28};
  EST_EXPECT_OK(check(other, CompareShapes::kYes));
  other.features["image"].shape = std::nullopt;
  EST_EXPECT_OK(check(other, CompareShapes::kYes));
  other.features["image"].shape = Shape{784};
  EST_EXPECT_OK(check(other, CompareShapes::kNo));
  EXPECT_THAT(check(other, CompareShapes::kYes),
              ErrorIs("features[\"image\"] is u8 [28,28] in dataset 0, but u8 [784] in dataset 1"));
  other.features["image"].dtype = DType::kFloat32;
  EXPECT_THAT(
      check(other, CompareShapes::kNo),
      ErrorIs("features[\"image\"] is u8 [28,28] in dataset 0, but f32 [784] in dataset 1"));
  other = Images();
  other.labels.clear();
  EXPECT_THAT(check(other, CompareShapes::kNo),
              ErrorIs("labels is i32 [] in dataset 0, but dataset 1 does not have it; it has image "
                      "u8 [28,28]"));
  other = Images();
  other.features["id"] = {DType::kInt64, Shape{}};
  EXPECT_THAT(check(other, CompareShapes::kNo),
              ErrorIs("features[\"id\"] is i64 [] in dataset 1, but dataset 0 does not have it; it "
                      "has image u8 [28,28], labels i32 []"));
}

TEST(ElementSpec, ThatCoversTwoHasUnknownSizesWhereTheyDiffer) {
  ElementSpec other = Images();
  other.features["image"].shape = Shape{32, 28};
  EXPECT_EQ(MostGeneral(Images(), other).ToString(), "image u8 [?,28], labels i32 []");
  other.features["image"].shape = Shape{28};
  EXPECT_EQ(MostGeneral(Images(), other).ToString(), "image u8 of unknown rank, labels i32 []");
  const ElementSpec batch = WithBatchAxis(Images(), kUnknown);
  EXPECT_EQ(batch.ToString(), "image u8 [?,28,28], labels i32 [?]");
  EXPECT_EQ(WithoutBatchAxis(batch), Images());
}

TEST(SpecGuard, WantsTheDTypesOfTheFirstElementOrTheDeclaredSpec) {
  const auto floats = [](const Shape& shape) {
    return Element{.features = Array(DType::kFloat32, shape), .labels = {}};
  };
  const Element number = {.features = Array::Scalar<int64_t>(1), .labels = {}};
  const SpecGuard first(std::nullopt);
  EST_EXPECT_OK(first.Check(floats({3})));
  EST_EXPECT_OK(first.Check(floats({4})));
  EXPECT_THAT(first.Check(number),
              ErrorIs("features is f32 [3] in the first element, but i64 [] in this element"));
  const SpecGuard declared(ElementSpec{.features = {{DType::kFloat32, Shape{kUnknown}}}});
  EST_EXPECT_OK(declared.Check(floats({3})));
  EST_EXPECT_OK(declared.Check(floats({4})));
  EXPECT_THAT(declared.Check(floats({4, 1})),
              ErrorIs("features is f32 [?] in output_signature, but f32 [4,1] in this element"));
}

}  // namespace
}  // namespace estimator
