#include "estimator/image/random/random_color.h"

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/testing/golden_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

using Function =
    std::function<absl::StatusOr<Array>(const Array&, const std::vector<float>&, const Seed&)>;
using Arguments = std::vector<float>;

const std::map<std::string, Function>& Functions() {
  static const auto* functions = new std::map<std::string, Function>{
      {"brightness", [](const Array& x, const Arguments& a,
                        const Seed& seed) { return StatelessRandomBrightness(x, a.at(0), seed); }},
      {"contrast",
       [](const Array& x, const Arguments& a, const Seed& seed) {
         return StatelessRandomContrast(x, a.at(0), a.at(1), seed);
       }},
      {"saturation",
       [](const Array& x, const Arguments& a, const Seed& seed) {
         return StatelessRandomSaturation(x, a.at(0), a.at(1), seed);
       }},
      {"hue", [](const Array& x, const Arguments& a, const Seed& seed) {
         return StatelessRandomHue(x, a.at(0), seed);
       }}};
  return *functions;
}

TEST(RandomColor, ComputesTheBitsOfTensorFlow) {
  std::map<std::string, int> counts;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("random_color.txt")) {
    SCOPED_TRACE(line.text);
    const std::string& name = line.arguments.at(0);
    const DType dtype = DTypeFromName(line.arguments.at(1)).value();
    const Shape shape(testing::ParseInts(line.arguments.at(3)));
    const std::vector<double> numbers = testing::ParseDoubles(line.arguments.at(4));
    EST_ASSERT_OK_AND_ASSIGN(
        const Array result,
        Functions().at(name)(testing::GoldenInput(dtype, shape), {numbers.begin(), numbers.end()},
                             testing::ParseSeed(line.arguments.at(2))));
    const std::string& values = line.results.at(0);
    const Array expected =
        dtype == DType::kFloat32
            ? Array::FromSpan<float>(shape, testing::ParseFloatBits(values))
            : Array::FromSpan<int64_t>(shape, testing::ParseInts(values)).Cast(dtype);
    EXPECT_EQ(Compare(result, expected).report, "");
    ++counts[name];
  }
  for (const auto& [name, function] : Functions()) EXPECT_GE(counts[name], 16) << name;
}

TEST(RandomColor, ErrorsHaveTheValues) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Array image(DType::kUint8, {2, 2, 3});
  const Seed seed = {1, 2};
  EXPECT_THAT(StatelessRandomBrightness(image, -0.5f, seed),
              ErrorIs("StatelessRandomBrightness: max_delta must be non-negative, got -0.5"));
  EXPECT_THAT(StatelessRandomBrightness(image, kNan, seed), ErrorHas("got nan"));
  EXPECT_THAT(StatelessRandomContrast(image, 1.5f, 0.5f, seed),
              ErrorIs("StatelessRandomContrast: need upper > lower >= 0, got lower=1.5 and "
                      "upper=0.5"));
  EXPECT_THAT(StatelessRandomSaturation(image, -1, 0.5f, seed), ErrorHas("got lower=-1"));
  EXPECT_THAT(StatelessRandomHue(image, 0.75f, seed),
              ErrorIs("StatelessRandomHue: max_delta must be non-negative and <= 0.5, got 0.75"));
  EXPECT_THAT(StatelessRandomHue(image, kNan, seed), ErrorHas("got nan"));
}

}  // namespace
}  // namespace estimator::image
