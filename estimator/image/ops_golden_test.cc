// Compares the functions of sizes and colors with TensorFlow's results in testdata/images.
//
// ops.npy has the bytes of all arrays. A line of ops.txt is one of
//   array NAME DTYPE:SHAPE:OFFSET
//   case FUNCTION in=NAME,... out=DTYPE:SHAPE:OFFSET KEY=VALUE ...
// where OFFSET is in bytes and a number that is left out is 0. tolerance=0 wants the same bits. Any
// other is relative to the largest value; for integers it is the number of steps.
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/array/npy.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/color.h"
#include "estimator/image/crop_and_resize.h"
#include "estimator/image/resize.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

constexpr char kFolder[] = "testdata/images/";

class Arguments {
 public:
  void Set(const std::string& key, const std::string& value) { values_[key] = value; }
  std::string Text(const std::string& key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? "" : it->second;
  }
  float Number(const std::string& key) const {
    float number = 0;
    const std::string text = Text(key);
    if (!text.empty()) CHECK(absl::SimpleAtof(text, &number)) << key << "=" << text;
    return number;
  }
  bool Flag(const std::string& key) const { return Number(key) != 0; }
  ImageSize Size() const {
    const std::vector<std::string> sizes = absl::StrSplit(Text("size"), ',');
    ImageSize size;
    CHECK_EQ(sizes.size(), 2u);
    CHECK(absl::SimpleAtoi(sizes[0], &size.height) && absl::SimpleAtoi(sizes[1], &size.width));
    return size;
  }
  ResizeMethod Method() const {
    static const auto* const kMethods =
        new std::map<std::string, ResizeMethod>({{"bilinear", ResizeMethod::kBilinear},
                                                 {"nearest", ResizeMethod::kNearestNeighbor},
                                                 {"bicubic", ResizeMethod::kBicubic},
                                                 {"area", ResizeMethod::kArea},
                                                 {"lanczos3", ResizeMethod::kLanczos3},
                                                 {"lanczos5", ResizeMethod::kLanczos5},
                                                 {"gaussian", ResizeMethod::kGaussian},
                                                 {"mitchellcubic", ResizeMethod::kMitchellCubic}});
    return kMethods->at(Text("method"));
  }
  LegacyResizeOptions Legacy() const {
    return {.align_corners = Flag("align_corners"),
            .half_pixel_centers = Flag("half_pixel_centers")};
  }
  ResizeOptions Options() const {
    return {.method = Method(),
            .antialias = Flag("antialias"),
            .preserve_aspect_ratio = Flag("preserve_aspect_ratio")};
  }

 private:
  std::map<std::string, std::string> values_;
};

using Function = absl::StatusOr<Array> (*)(const std::vector<Array>& in, const Arguments& args);

const std::map<std::string, Function>& Functions() {
  static const auto* const
      kFunctions =
          new std::map<std::string, Function>({{"Resize",
                                                [](const auto& in, const auto& args) {
                                                  return Resize(in[0], args.Size(), args.Options());
                                                }},
                                               {"ResizeToUint8",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeToUint8(in[0], args.Size(),
                                                                       args.Options());
                                                }},
                                               {"ResizeWithPad",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeWithPad(in[0], args.Size(),
                                                                       {.method = args.Method()});
                                                }},
                                               {"ResizeBilinear",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeBilinear(in[0], args.Size(),
                                                                        args.Legacy());
                                                }},
                                               {"ResizeBicubic",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeBicubic(in[0], args.Size(),
                                                                       args.Legacy());
                                                }},
                                               {"ResizeNearestNeighbor",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeNearestNeighbor(in[0], args.Size(),
                                                                               args.Legacy());
                                                }},
                                               {"ResizeArea",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeArea(in[0], args.Size(),
                                                                    {.align_corners = args.Flag(
                                                                         "align_corners")});
                                                }},
                                               {"CropAndResize",
                                                [](const auto& in, const auto& args) {
                                                  return CropAndResize(
                                                      in[0], in[1], in[2], args.Size(),
                                                      {.method = args.Method(),
                                                       .extrapolation_value =
                                                           args.Number("extrapolation_value")});
                                                }},
                                               {"AdjustBrightness",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustBrightness(in[0],
                                                                          args.Number("delta"));
                                                }},
                                               {"AdjustContrast",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustContrast(
                                                      in[0], args.Number("contrast_factor"));
                                                }},
                                               {"AdjustSaturation",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustSaturation(
                                                      in[0], args.Number("saturation_factor"));
                                                }},
                                               {"AdjustHue",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustHue(in[0], args.Number("delta"));
                                                }},
                                               {"AdjustGamma",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustGamma(in[0],
                                                                     {.gamma = args.Number("gamma"),
                                                                      .gain = args.Number("gain")});
                                                }},
                                               {"RgbToGrayscale",
                                                [](const auto& in,
                                                   const auto&) { return RgbToGrayscale(in[0]); }},
                                               {"GrayscaleToRgb",
                                                [](const auto& in,
                                                   const auto&) { return GrayscaleToRgb(in[0]); }},
                                               {"RgbToHsv",
                                                [](const auto& in,
                                                   const auto&) { return RgbToHsv(in[0]); }},
                                               {"HsvToRgb",
                                                [](const auto& in,
                                                   const auto&) { return HsvToRgb(in[0]); }},
                                               {"PerImageStandardization",
                                                [](const auto& in, const auto&) {
                                                  return PerImageStandardization(in[0]);
                                                }},
                                               {"ConvertImageDtype",
                                                [](const auto& in, const auto& args) {
                                                  return ConvertImageDtype(
                                                      in[0], *DTypeFromName(args.Text("dtype")),
                                                      {.saturate = args.Flag("saturate")});
                                                }}});
  return *kFunctions;
}

// The array of DTYPE:SHAPE:OFFSET.
Array StoredArray(const Array& bytes, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  CHECK_EQ(parts.size(), 3u) << text;
  Shape shape;
  for (const absl::string_view size : absl::StrSplit(parts[1], ',')) {
    int64_t number = 0;
    CHECK(absl::SimpleAtoi(size, &number)) << text;
    shape.push_back(number);
  }
  int64_t offset = 0;
  CHECK(absl::SimpleAtoi(parts[2], &offset)) << text;
  Array array(*DTypeFromName(parts[0]), shape);
  CHECK_LE(offset + static_cast<int64_t>(array.num_bytes()), bytes.num_elements()) << text;
  std::memcpy(array.raw(), bytes.data<uint8_t>() + offset, array.num_bytes());
  return array;
}

double LargestMagnitude(const Array& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    largest = std::max(largest, std::abs(array.AsDouble(i)));
  }
  return largest;
}

TEST(OpsGolden, ResultsAreThoseOfTensorFlow) {
  const auto bytes = LoadNpy(std::string(kFolder) + "ops.npy");
  EST_ASSERT_OK(bytes);
  std::ifstream file(std::string(kFolder) + "ops.txt");
  std::map<std::string, Array> arrays;
  std::map<std::string, int> num_cases;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] == "array") {
      arrays[words[1]] = StoredArray(*bytes, words[2]);
      continue;
    }
    SCOPED_TRACE(line);
    Arguments args;
    for (size_t i = 2; i < words.size(); ++i) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      args.Set(pair.first, pair.second);
    }
    std::vector<Array> in;
    for (const absl::string_view name : absl::StrSplit(args.Text("in"), ',')) {
      in.push_back(arrays.at(std::string(name)));
    }
    ++num_cases[words[1]];
    const auto actual = Functions().at(words[1])(in, args);
    const Array expected = StoredArray(*bytes, args.Text("out"));
    if (!actual.ok()) {
      ADD_FAILURE() << actual.status();
      continue;
    }
    const double tolerance = args.Number("tolerance");
    const double unit = IsInteger(expected.dtype()) ? 1 : LargestMagnitude(expected);
    const Difference difference = Compare(*actual, expected, {.absolute = tolerance * unit});
    EXPECT_TRUE(difference.equal) << difference.report;
  }
  // Each function has cases.
  for (const auto& [name, function] : Functions()) EXPECT_GT(num_cases[name], 0) << name;
}

}  // namespace
}  // namespace estimator::image
