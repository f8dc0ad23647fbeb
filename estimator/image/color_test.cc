#include "estimator/image/color.h"

#include <limits>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// ops_golden_test.cc compares the values with TensorFlow's.
namespace estimator::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const float kInfinity = std::numeric_limits<float>::infinity();

TEST(ConvertImageDtype, ScalesTheRanges) {
  const Array image = Array::Of<uint8_t>({1, 3, 1}, {0, 51, 255});
  EST_ASSERT_OK_AND_ASSIGN(const Array floats, ConvertImageDtype(image, DType::kFloat32));
  EXPECT_THAT(floats.values<float>(), ElementsAre(0, 51 * (1 / 255.f), 1));
  EST_ASSERT_OK_AND_ASSIGN(const Array back, ConvertImageDtype(floats, DType::kUint8));
  EXPECT_TRUE(SameBits(back, image));
  EST_ASSERT_OK_AND_ASSIGN(const Array larger, ConvertImageDtype(image, DType::kInt16));
  EXPECT_THAT(larger.values<int16_t>(), ElementsAre(0, 51 * 128, 255 * 128));
}

TEST(ConvertImageDtype, SaturatesOnlyIfAsked) {
  const Array image = Array::Of<int8_t>({1, 2, 1}, {-1, 127});
  EST_ASSERT_OK_AND_ASSIGN(const Array wrapped, ConvertImageDtype(image, DType::kUint8));
  EXPECT_THAT(wrapped.values<uint8_t>(), ElementsAre(254, 254));
  EST_ASSERT_OK_AND_ASSIGN(const Array clipped,
                           ConvertImageDtype(image, DType::kUint8, {.saturate = true}));
  EXPECT_THAT(clipped.values<uint8_t>(), ElementsAre(0, 254));
  const Array huge = Array::Of<float>({1, 3, 1}, {-kInfinity, 2, kInfinity});
  EST_ASSERT_OK_AND_ASSIGN(const Array bounded,
                           ConvertImageDtype(huge, DType::kInt32, {.saturate = true}));
  EXPECT_THAT(bounded.values<int32_t>(),
              ElementsAre(std::numeric_limits<int32_t>::min(), 2147483520, 2147483520));
}

TEST(ConvertImageDtype, RefusesOtherDtypes) {
  EXPECT_THAT(ConvertImageDtype(Array(DType::kUint8, {1, 1, 1}), DType::kBool),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("u8 [1,1,1] and bool")));
  EXPECT_THAT(ConvertImageDtype(Array::String("a"), DType::kUint8),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("both dtypes")));
  EXPECT_THAT(ConvertImageDtype(Array(DType::kFloat16, {1, 1, 1}), DType::kInt64),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("convert to float32 first")));
}

TEST(AdjustBrightness, OfBytesSaturates) {
  const Array image = Array::Of<uint8_t>({1, 3, 1}, {0, 100, 250});
  EST_ASSERT_OK_AND_ASSIGN(const Array brighter, AdjustBrightness(image, 0.1f));
  EXPECT_THAT(brighter.values<uint8_t>(), ElementsAre(25, 125, 255));
  EST_ASSERT_OK_AND_ASSIGN(const Array darker, AdjustBrightness(image, -0.5f));
  EXPECT_THAT(darker.values<uint8_t>(), ElementsAre(0, 0, 122));
}

TEST(AdjustBrightness, DoesNotChangeItsArgument) {
  const Array image = Array::Of<float>({1, 2, 1}, {0.25f, 0.5f});
  EST_ASSERT_OK_AND_ASSIGN(const Array brighter, AdjustBrightness(image, 0.25f));
  EXPECT_THAT(brighter.values<float>(), ElementsAre(0.5f, 0.75f));
  EXPECT_THAT(image.values<float>(), ElementsAre(0.25f, 0.5f));
}

TEST(AdjustContrast, IsAroundTheMeanOfEachImageAndChannel) {
  const Array images =
      Array::Of<float>({2, 1, 2, 2}, {0, 1, 2, 1, /*second image*/ 10, 10, 20, 30});
  EST_ASSERT_OK_AND_ASSIGN(const Array result, AdjustContrast(images, 2));
  EXPECT_THAT(result.values<float>(), ElementsAre(-1, 1, 3, 1, 5, 0, 25, 40));
}

TEST(AdjustSaturation, WithoutSaturationIsGray) {
  const Array image = Array::Of<uint8_t>({1, 2, 3}, {200, 100, 50, 7, 7, 7});
  EST_ASSERT_OK_AND_ASSIGN(const Array gray, AdjustSaturation(image, 0));
  EXPECT_THAT(gray.values<uint8_t>(), ElementsAre(200, 200, 200, 7, 7, 7));
}

TEST(AdjustHue, AThirdOfATurnMovesTheChannels) {
  const Array image = Array::Of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EST_ASSERT_OK_AND_ASSIGN(const Array turned, AdjustHue(image, 1 / 3.f));
  const Array expected = Array::Of<float>({1, 2, 3}, {0, 1, 0, 0, 0, 1});
  EXPECT_TRUE(Compare(turned, expected, {.absolute = 1e-6}).equal) << turned.ToString();
}

TEST(AdjustHue, EndsForPixelsThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array image = Array::Of<float>(
      {1, 4, 3}, {nan, 0, 1, kInfinity, 0, 1, -kInfinity, kInfinity, 0, 1e-45f, 0, 0});
  EXPECT_THAT(AdjustHue(image, 0.5f), IsOk());
  EXPECT_THAT(AdjustSaturation(image, 2), IsOk());
}

TEST(AdjustGamma, DarkensAboveOne) {
  const Array image = Array::Of<uint8_t>({1, 3, 1}, {0, 128, 255});
  EST_ASSERT_OK_AND_ASSIGN(const Array result, AdjustGamma(image, {.gamma = 2}));
  EXPECT_THAT(result.values<uint8_t>(), ElementsAre(0, 64, 255));
}

TEST(RgbToGrayscale, WeighsTheChannels) {
  const Array image = Array::Of<float>({1, 3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  EST_ASSERT_OK_AND_ASSIGN(const Array gray, RgbToGrayscale(image));
  EXPECT_EQ(gray.shape(), (Shape{1, 3, 1}));
  EXPECT_THAT(gray.values<float>(), ElementsAre(0.2989f, 0.5870f, 0.1140f));
  EST_ASSERT_OK_AND_ASSIGN(const Array rgb, GrayscaleToRgb(gray));
  EXPECT_EQ(rgb.shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(rgb.data<float>()[2], 0.2989f);
}

TEST(RgbToHsv, IsInvertedByHsvToRgb) {
  const Array image = Array::Of<double>({2, 3}, {0.2, 0.5, 0.7, 0.9, 0.9, 0.1});
  EST_ASSERT_OK_AND_ASSIGN(const Array hsv, RgbToHsv(image));
  EST_ASSERT_OK_AND_ASSIGN(const Array rgb, HsvToRgb(hsv));
  EXPECT_TRUE(Compare(rgb, image, {.absolute = 1e-12}).equal);
}

TEST(PerImageStandardization, GivesMeanZeroAndVarianceOne) {
  const Array image = Array::Of<uint8_t>({1, 2, 2}, {1, 3, 1, 3});
  EST_ASSERT_OK_AND_ASSIGN(const Array result, PerImageStandardization(image));
  EXPECT_THAT(result.values<float>(), ElementsAre(-1, 1, -1, 1));
  EST_ASSERT_OK_AND_ASSIGN(const Array even,
                           PerImageStandardization(Array::Of<float>({1, 2, 1}, {4, 4})));
  EXPECT_THAT(even.values<float>(), ElementsAre(0, 0));
}

TEST(Colors, NameWhatIsWrong) {
  const Array gray(DType::kUint8, {2, 2, 1}), rgb(DType::kUint8, {2, 2, 3});
  EXPECT_THAT(AdjustHue(gray, 0),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "AdjustHue: the last axis must be 3 channels, got u8 [2,2,1]; "
                       "GrayscaleToRgb converts images of 1 channel"));
  EXPECT_THAT(AdjustHue(rgb, 1.5f),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in [-1, 1], got 1.5")));
  EXPECT_THAT(AdjustSaturation(Array(DType::kUint8, {3}), 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("got u8 [3]")));
  EXPECT_THAT(AdjustContrast(rgb, kInfinity),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be finite, got inf")));
  EXPECT_THAT(AdjustGamma(rgb, {.gamma = -1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 0, got -1")));
  EXPECT_THAT(RgbToGrayscale(gray),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("gray already")));
  EXPECT_THAT(GrayscaleToRgb(rgb),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be 1 channel,")));
  EXPECT_THAT(RgbToHsv(rgb),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ConvertImageDtype")));
  EXPECT_THAT(PerImageStandardization(Array::String("a")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be numbers")));
}

TEST(Colors, EmptyImagesStayEmpty) {
  const Array empty(DType::kUint8, {0, 4, 3});
  EXPECT_THAT(AdjustContrast(empty, 2), IsOk());
  EXPECT_THAT(AdjustHue(empty, 0.5f), IsOk());
  EXPECT_THAT(PerImageStandardization(empty), IsOk());
}

}  // namespace
}  // namespace estimator::image
