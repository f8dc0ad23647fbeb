#include "estimator/image/geometry.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/testing/golden_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<int64_t> Values(const Array& array) {
  const Array wide = array.Cast(DType::kInt64);
  return {wide.values<int64_t>().begin(), wide.values<int64_t>().end()};
}

using Function = std::function<absl::StatusOr<Array>(const Array&, const std::string& arguments)>;

// Takes the arguments as integers. REQUIRES: as many as the function takes.
template <typename Fn>
Function OfInts(Fn fn) {
  return [fn](const Array& x, const std::string& arguments) {
    return fn(x, testing::ParseInts(arguments));
  };
}

const std::map<std::string, Function>& Functions() {
  using Ints = std::vector<int64_t>;
  static const auto* functions = new std::map<std::string, Function>{
      {"crop_to_bounding_box", OfInts([](const Array& x, const Ints& a) {
         return CropToBoundingBox(x, a.at(0), a.at(1), a.at(2), a.at(3));
       })},
      {"pad_to_bounding_box", OfInts([](const Array& x, const Ints& a) {
         return PadToBoundingBox(x, a.at(0), a.at(1), a.at(2), a.at(3));
       })},
      {"resize_with_crop_or_pad", OfInts([](const Array& x, const Ints& a) {
         return ResizeWithCropOrPad(x, a.at(0), a.at(1));
       })},
      {"central_crop",
       [](const Array& x, const std::string& arguments) {
         return CentralCrop(x, testing::ParseDoubles(arguments).at(0));
       }},
      {"flip_left_right", OfInts([](const Array& x, const Ints&) { return FlipLeftRight(x); })},
      {"flip_up_down", OfInts([](const Array& x, const Ints&) { return FlipUpDown(x); })},
      {"rot90", OfInts([](const Array& x, const Ints& a) { return Rot90(x, a.at(0)); })},
      {"transpose", OfInts([](const Array& x, const Ints&) { return Transpose(x); })},
      {"slice", OfInts([](const Array& x, const Ints& a) {
         const size_t rank = a.size() / 2;
         return Slice(x, absl::MakeConstSpan(a).first(rank), absl::MakeConstSpan(a).last(rank));
       })}};
  return *functions;
}

TEST(Geometry, ComputesWhatTensorFlowComputes) {
  std::map<std::string, int> num_results, num_errors;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("geometry.txt")) {
    SCOPED_TRACE(line.text);
    const std::string& name = line.arguments.at(0);
    const DType dtype = DTypeFromName(line.arguments.at(1)).value();
    const Array input =
        testing::GoldenInput(dtype, Shape(testing::ParseInts(line.arguments.at(2))));
    const absl::StatusOr<Array> result = Functions().at(name)(input, line.arguments.at(3));
    if (!line.error.empty()) {
      ++num_errors[name];
      const std::string part = line.error == "-" ? "" : line.error;
      EXPECT_THAT(result.status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(part)));
      continue;
    }
    ++num_results[name];
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->dtype(), dtype);
    EXPECT_EQ(result->shape(), Shape(testing::ParseInts(line.results.at(0))));
    EXPECT_EQ(Values(*result), testing::ParseInts(line.results.at(1)));
  }
  for (const auto& [name, function] : Functions()) {
    EXPECT_GT(num_results[name], 0) << name;
    EXPECT_GT(num_errors[name], 0) << name;
  }
}

TEST(Geometry, LeavesTheInputAsItWas) {
  const Array image = testing::GoldenInput(DType::kUint8, {3, 4, 3});
  const std::vector<int64_t> before = Values(image);
  for (const auto& result :
       {FlipLeftRight(image), FlipUpDown(image), Rot90(image, 3), Transpose(image),
        CropToBoundingBox(image, 1, 1, 2, 2), PadToBoundingBox(image, 1, 1, 6, 6)}) {
    EST_ASSERT_OK(result);
    EXPECT_NE(result->raw(), image.raw());
  }
  EXPECT_EQ(Values(image), before);
}

// The rows of f32 pixels with 3 channels are copied in another way than those of other sizes.
TEST(Geometry, ArrangesPixelsOfEverySizeAlike) {
  for (const int64_t channels : {1, 2, 3, 4, 5}) {
    for (const int64_t width : {1, 2, 3, 4, 19}) {
      constexpr int64_t kHeight = 3;
      Array image(DType::kFloat32, {kHeight, width, channels});
      for (int64_t i = 0; i < image.num_elements(); ++i)
        image.data<float>()[i] = static_cast<float>(i);
      const auto at = [&](int64_t y, int64_t x, int64_t c) {
        return image.data<float>()[(y * width + x) * channels + c];
      };
      const Array flipped = FlipLeftRight(image).value();
      const Array turned = Rot90(image, 3).value();
      const Array transposed = Transpose(image).value();
      for (int64_t y = 0; y < kHeight; ++y) {
        for (int64_t x = 0; x < width; ++x) {
          for (int64_t c = 0; c < channels; ++c) {
            const float expected = at(y, x, c);
            EXPECT_EQ(flipped.AsDouble((y * width + width - 1 - x) * channels + c), expected);
            EXPECT_EQ(transposed.AsDouble((x * kHeight + y) * channels + c), expected);
            EXPECT_EQ(turned.AsDouble((x * kHeight + kHeight - 1 - y) * channels + c), expected);
          }
        }
      }
    }
  }
}

TEST(Geometry, TheWholeImageSharesItsBytes) {
  const Array image = testing::GoldenInput(DType::kUint8, {3, 4, 3});
  for (const auto& result :
       {CropToBoundingBox(image, 0, 0, 3, 4), PadToBoundingBox(image, 0, 0, 3, 4),
        ResizeWithCropOrPad(image, 3, 4), CentralCrop(image, 1), Rot90(image, 4),
        Slice(image, {0, 0, 0}, {-1, -1, -1})}) {
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->raw(), image.raw());
  }
}

TEST(Geometry, ErrorsHaveBothValuesAndTheCure) {
  const Array image = testing::GoldenInput(DType::kUint8, {3, 4, 1});
  EXPECT_THAT(CropToBoundingBox(image, 0, 2, 3, 3).status(),
              ErrorIs("CropToBoundingBox: width must be >= target + offset, got a width of 4, "
                      "target_width=3 and offset_width=2; to pad where the image is too small, "
                      "call ResizeWithCropOrPad"));
  EXPECT_THAT(PadToBoundingBox(image, 2, 0, 4, 4).status(),
              ErrorIs("PadToBoundingBox: height must be <= target - offset, got a height of 3, "
                      "target_height=4 and offset_height=2; to crop where the image is too large, "
                      "call ResizeWithCropOrPad"));
  EXPECT_THAT(FlipLeftRight(Array(DType::kUint8, {3, 4})).status(),
              ErrorIs("FlipLeftRight: image must have either 3 or 4 dimensions, [H,W,C] or "
                      "[N,H,W,C], got u8 [3,4]"));
  EXPECT_THAT(FlipUpDown(Array(DType::kUint8, {0, 4, 3})).status(),
              ErrorIs("FlipUpDown: inner 3 dims of image must be > 0, got u8 [0,4,3]"));
  EXPECT_THAT(Transpose(Array::String("JPEG")).status(),
              ErrorIs("Transpose: expects numbers, got str []; decode the image first"));
  EXPECT_THAT(Slice(image, {0, 0}, {1, 1}).status(), ErrorHas("got begin=[0,0] and size=[1,1]"));
}

TEST(Geometry, SizesThatOverflowAreErrors) {
  const Array image = testing::GoldenInput(DType::kUint8, {3, 4, 1});
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
  EXPECT_THAT(CropToBoundingBox(image, kMost, 0, kMost, 1), ErrorHas("height must be >= target"));
  EXPECT_THAT(CropToBoundingBox(image, 0, 1, 1, kMost), ErrorHas("width must be >= target"));
  EXPECT_THAT(PadToBoundingBox(image, kMost, 0, kLeast, 4), ErrorHas("height must be <= target"));
  EXPECT_THAT(PadToBoundingBox(image, 0, 0, kMost, kMost), ErrorHas("2^31 - 1 values"));
  EXPECT_THAT(ResizeWithCropOrPad(image, kMost, 4),
              AllOf(ErrorHas("ResizeWithCropOrPad"), ErrorHas("smaller target_height")));
  EXPECT_THAT(Slice(image, {0, 0, 0}, {kMost, 1, 1}), ErrorHas("size[0] in [0, 3]"));
  EXPECT_THAT(Slice(image, {kMost, 0, 0}, {kMost, 1, 1}), ErrorHas("begin[0] in [0, 3]"));
  EST_EXPECT_OK(Rot90(image, kLeast));
}

TEST(Geometry, AnEmptyBatchStaysEmpty) {
  const Array batch(DType::kFloat32, {0, 3, 4, 1});
  EST_ASSERT_OK_AND_ASSIGN(const Array rotated, Rot90(batch, 1));
  EXPECT_EQ(rotated.shape(), (Shape{0, 4, 3, 1}));
  EST_ASSERT_OK_AND_ASSIGN(const Array padded, PadToBoundingBox(batch, 1, 1, 5, 6));
  EXPECT_EQ(padded.shape(), (Shape{0, 5, 6, 1}));
}

}  // namespace
}  // namespace estimator::image
