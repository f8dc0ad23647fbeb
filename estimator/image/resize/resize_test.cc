#include "estimator/image/resize/resize.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/row_sink.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// ops_golden_test.cc compares the values of all methods with TensorFlow's.
namespace estimator::image {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> Values(const Array& array) {
  const auto values = array.values<float>();
  return std::vector<float>(values.begin(), values.end());
}

TEST(Resize, InterpolatesBetweenTheCentersOfPixels) {
  const Array image = Array::Of<uint8_t>({1, 2, 1}, {10, 20});
  EST_ASSERT_OK_AND_ASSIGN(const Array wide, Resize(image, {1, 4}));
  EXPECT_EQ(wide.shape(), (Shape{1, 4, 1}));
  EXPECT_THAT(Values(wide), ElementsAre(10, 12.5, 17.5, 20));
}

TEST(Resize, AreaIsTheMeanOfTheCoveredPixels) {
  const Array image = Array::Of<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  EST_ASSERT_OK_AND_ASSIGN(const Array one, Resize(image, {1, 1}, {.method = ResizeMethod::kArea}));
  EXPECT_THAT(Values(one), ElementsAre(3.5));
}

TEST(Resize, AntialiasingAveragesWhereBilinearSkipsPixels) {
  const Array image = Array::Of<float>({1, 8, 1}, {0, 0, 0, 0, 0, 0, 0, 80});
  EST_ASSERT_OK_AND_ASSIGN(const Array sampled, Resize(image, {1, 1}));
  EXPECT_THAT(Values(sampled), ElementsAre(0));
  EST_ASSERT_OK_AND_ASSIGN(const Array smoothed, Resize(image, {1, 1}, {.antialias = true}));
  EXPECT_GT(smoothed.data<float>()[0], 1);
}

TEST(Resize, KeepsTheDtypeOnlyWithNearestNeighbor) {
  const Array image = Array::Of<int16_t>({1, 2, 1}, {-7, 9});
  EST_ASSERT_OK_AND_ASSIGN(const Array nearest,
                           Resize(image, {1, 3}, {.method = ResizeMethod::kNearestNeighbor}));
  EXPECT_EQ(nearest.dtype(), DType::kInt16);
  EST_ASSERT_OK_AND_ASSIGN(const Array bilinear, Resize(image, {1, 3}));
  EXPECT_EQ(bilinear.dtype(), DType::kFloat32);
}

TEST(Resize, PreservesTheAspectRatioWithinTheSize) {
  const Array image(DType::kUint8, {10, 20, 3});
  EST_ASSERT_OK_AND_ASSIGN(const Array result,
                           Resize(image, {8, 8}, {.preserve_aspect_ratio = true}));
  EXPECT_EQ(result.shape(), (Shape{4, 8, 3}));
}

TEST(Resize, OfABatchIsThatOfEachImage) {
  Array batch(DType::kUint8, {3, 5, 7, 3});
  for (int64_t i = 0; i < batch.num_elements(); ++i)
    batch.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  for (const ResizeMethod method :
       {ResizeMethod::kBilinear, ResizeMethod::kNearestNeighbor, ResizeMethod::kBicubic,
        ResizeMethod::kArea, ResizeMethod::kLanczos3}) {
    EST_ASSERT_OK_AND_ASSIGN(const Array all, Resize(batch, {4, 9}, {.method = method}));
    for (int64_t i = 0; i < 3; ++i) {
      EST_ASSERT_OK_AND_ASSIGN(const Array one, Resize(batch.Row(i), {4, 9}, {.method = method}));
      EXPECT_TRUE(SameBits(all.Row(i), one)) << static_cast<int>(method);
    }
  }
}

// The vectors of four elements read more than the last pixel of three channels. A copy of the array
// in memory of exactly its size shows a read past the end under AddressSanitizer, and what follows
// it in memory must not change the result.
TEST(Resize, DoesNotDependOnWhatFollowsTheImageInMemory) {
  for (const ResizeMethod method : {ResizeMethod::kBilinear, ResizeMethod::kBicubic,
                                    ResizeMethod::kArea, ResizeMethod::kMitchellCubic}) {
    auto bytes = std::make_shared<std::vector<uint8_t>>(4 * 5 * 3);
    for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<uint8_t>(i * 41);
    const Array exact = Array::Wrap(DType::kUint8, {4, 5, 3}, bytes->data(), bytes);
    Array longer(DType::kUint8, {5, 5, 3});
    std::memset(longer.raw(), 255, longer.num_bytes());
    std::memcpy(longer.raw(), bytes->data(), bytes->size());
    EST_ASSERT_OK_AND_ASSIGN(const Array a, Resize(exact, {7, 6}, {.method = method}));
    EST_ASSERT_OK_AND_ASSIGN(const Array b, Resize(longer.Slice(0, 4), {7, 6}, {.method = method}));
    EXPECT_TRUE(SameBits(a, b)) << static_cast<int>(method);
  }
}

// The two dtypes are interpolated in different ways.
TEST(Resize, BilinearOfU8IsThatOfTheSameF32BitForBit) {
  for (const int64_t channels : {1, 3, 4}) {
    for (const int64_t width : {1, 2, 3, 50}) {
      Array image(DType::kUint8, {7, width, channels});
      for (int64_t i = 0; i < image.num_elements(); ++i)
        image.data<uint8_t>()[i] = static_cast<uint8_t>(i * i * 89 % 256);
      const Array floats = image.Cast(DType::kFloat32);
      for (const int64_t size : {1, 2, 5, 13, 50, 64}) {
        const ImageSize to = {size, size};
        EXPECT_TRUE(SameBits(Resize(image, to).value(), Resize(floats, to).value()));
        for (const LegacyResizeOptions options :
             {LegacyResizeOptions{}, LegacyResizeOptions{.align_corners = true}}) {
          EXPECT_TRUE(SameBits(ResizeBilinear(image, to, options).value(),
                               ResizeBilinear(floats, to, options).value()));
        }
      }
    }
  }
}

TEST(Resize, ABatchOfNoImagesStaysOne) {
  for (const ResizeMethod method : {ResizeMethod::kBilinear, ResizeMethod::kNearestNeighbor}) {
    EST_ASSERT_OK_AND_ASSIGN(
        const Array none, Resize(Array(DType::kUint8, {0, 4, 5, 3}), {2, 2}, {.method = method}));
    EXPECT_EQ(none.shape(), (Shape{0, 2, 2, 3}));
  }
}

TEST(Resize, NamesWhatIsWrong) {
  const Array image(DType::kUint8, {4, 5, 3});
  EXPECT_THAT(Resize(image, {0, 7}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "Resize: both sizes must be at least 1, got {height, width} = {0, 7} for "
                       "images u8 [4,5,3]"));
  EXPECT_THAT(Resize(Array(DType::kUint8, {4, 5}), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("got u8 [4,5]"), HasSubstr("Reshaped"))));
  EXPECT_THAT(Resize(Array::String("JFIF"), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("decode them first")));
  EXPECT_THAT(Resize(Array(), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("an empty Array")));
  EXPECT_THAT(Resize(Array(DType::kBool, {4, 5, 3}), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be numbers")));
  EXPECT_THAT(Resize(Array(DType::kUint8, {0, 5, 3}), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one pixel")));
  EXPECT_THAT(Resize(Array(DType::kUint8, {4, 5, 0}), {2, 2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one channel")));
  EXPECT_THAT(Resize(image, {int64_t{1} << 40, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("use a smaller size")));
  EXPECT_THAT(Resize(image, {1 << 20, 1 << 20}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("use a smaller size")));
  EXPECT_THAT(Resize(Array(DType::kUint8, {1, 100, 3}), {9, 9}, {.preserve_aspect_ratio = true}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("{9, 9} into {0, 9}")));
  EXPECT_THAT(ResizeWithPad(Array(DType::kUint8, {1, 100, 3}), {9, 9}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("use a larger target")));
  EXPECT_THAT(ResizeBilinear(image, {2, 2}, {.align_corners = true, .half_pixel_centers = true}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("ResizeBilinear"), HasSubstr("set one of them"))));
}

TEST(ResizeToUint8, RoundsHalvesToEvenAndSaturates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {-3,  -0.5f, 0.5f, 1.5f, 2.5f,     254.5f,    255.5f, 1e30f,
                                 nan, 0.49f, 3e9f, 7.6f, infinity, -infinity, 253.5f};
  const std::vector<uint8_t> expected = {0, 0, 0, 2, 2, 254, 255, 255, 0, 0, 255, 8, 255, 0, 254};
  // At every position of a vector.
  for (size_t offset = 0; offset < in.size(); ++offset) {
    std::vector<uint8_t> out(in.size() - offset);
    RoundToUint8(in.data() + offset, static_cast<int64_t>(out.size()), out.data());
    EXPECT_EQ(
        out, std::vector<uint8_t>(expected.begin() + static_cast<int64_t>(offset), expected.end()));
  }
}

TEST(ResizeToUint8, IsTheRoundedResultOfResize) {
  Array image(DType::kUint8, {9, 8, 3});
  for (int64_t i = 0; i < image.num_elements(); ++i)
    image.data<uint8_t>()[i] = static_cast<uint8_t>(i * 91);
  for (const ResizeMethod method : {ResizeMethod::kBilinear, ResizeMethod::kBicubic}) {
    EST_ASSERT_OK_AND_ASSIGN(const Array floats, Resize(image, {5, 7}, {.method = method}));
    EST_ASSERT_OK_AND_ASSIGN(const Array rounded, ResizeToUint8(image, {5, 7}, {.method = method}));
    for (int64_t i = 0; i < floats.num_elements(); ++i) {
      const double clipped = std::min(std::max(floats.AsDouble(i), 0.0), 255.0);
      EXPECT_EQ(rounded.AsDouble(i), std::nearbyint(clipped));
    }
  }
}

TEST(ResizeWithPad, AddsZerosOnBothSides) {
  const Array image = Array::Of<float>({1, 2, 1}, {5, 5});
  EST_ASSERT_OK_AND_ASSIGN(const Array padded, ResizeWithPad(image, {4, 2}));
  EXPECT_THAT(Values(padded), ElementsAre(0, 0, 5, 5, 0, 0, 0, 0));
}

}  // namespace
}  // namespace estimator::image
