#include "models/common/decode_and_resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

// The first element.
absl::StatusOr<std::optional<Element>> First(const Dataset& dataset) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, dataset.MakeIterator());
  return iterator->Next();
}

TEST(DecodeAndResize, TakesFilesAndPixelsAndKeepsWhatItIsTold) {
  Array pixels(DType::kUint8, {4, 6, 3});
  for (uint8_t& value : pixels.values<uint8_t>()) value = 200;
  EST_ASSERT_OK_AND_ASSIGN(const std::string png, image::EncodePng(pixels));
  for (const Array& image : {pixels, Array::String(png)}) {
    const Element example{.features = {{"image", image},
                                       {"name", Array::String("a.png")},
                                       {"other", Array::Scalar(1.0f)}},
                          .labels = Array::Scalar(7)};
    EST_ASSERT_OK_AND_ASSIGN(
        const std::optional<Element> made,
        First(DecodeAndResize(Dataset::FromTensors(example), {2, 3}, {"name"})));
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->ToString(), "image u8 [2,3,3], name str [], labels i32 []");
    EXPECT_EQ(made->features.at("image").data<uint8_t>()[17], 200);
  }
}

TEST(DecodeAndResize, AMissingFeatureIsNamed) {
  const Element example{.features = {{"picture", Array::String("")}}, .labels = {}};
  EXPECT_THAT(First(DecodeAndResize(Dataset::FromTensors(example), {2, 3})), ErrorHas("picture"));
}

}  // namespace
}  // namespace estimator
