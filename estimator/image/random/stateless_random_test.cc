#include "estimator/image/random/stateless_random.h"

#include <set>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/testing/golden_lines.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

TEST(StatelessRandom, UniformGivesTheBitsOfTensorFlow) {
  int num_lines = 0;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("random_geometry.txt")) {
    if (line.arguments.at(0) != "uniform") continue;
    SCOPED_TRACE(line.text);
    ++num_lines;
    const std::vector<double> bounds = testing::ParseDoubles(line.arguments.at(3));
    EST_ASSERT_OK_AND_ASSIGN(
        const Array numbers,
        StatelessRandomUniform(Shape(testing::ParseInts(line.arguments.at(2))),
                               testing::ParseSeed(line.arguments.at(1)),
                               static_cast<float>(bounds.at(0)), static_cast<float>(bounds.at(1))));
    EXPECT_THAT(testing::ParseFloatBits(line.results.at(0)),
                ::testing::ElementsAreArray(numbers.values<float>()));
  }
  EXPECT_GE(num_lines, 20);
}

TEST(StatelessRandom, UniformIntGivesTheIntegersOfTensorFlow) {
  std::set<std::string> dtypes;
  for (const testing::GoldenLine& line : testing::ReadGoldenLines("random_geometry.txt")) {
    if (line.arguments.at(0) != "uniform_int") continue;
    SCOPED_TRACE(line.text);
    dtypes.insert(line.arguments.at(1));
    const DType dtype = DTypeFromName(line.arguments.at(1)).value();
    const std::vector<int64_t> bounds = testing::ParseInts(line.arguments.at(4));
    EST_ASSERT_OK_AND_ASSIGN(
        const Array numbers,
        StatelessRandomUniformInt(Shape(testing::ParseInts(line.arguments.at(3))),
                                  testing::ParseSeed(line.arguments.at(2)), bounds.at(0),
                                  bounds.at(1), dtype));
    EXPECT_EQ(numbers.dtype(), dtype);
    EXPECT_THAT(testing::ParseInts(line.results.at(0)),
                ::testing::ElementsAreArray(numbers.Cast(DType::kInt64).values<int64_t>()));
  }
  EXPECT_EQ(dtypes, (std::set<std::string>{"int32", "int64"}));
}

TEST(StatelessRandom, ErrorsHaveBothValuesAndTheCure) {
  const Seed seed = {1, 2};
  EXPECT_THAT(StatelessRandomUniformInt({2}, seed, 3, 3),
              ErrorIs("StatelessRandomUniformInt: need minval < maxval, got 3 >= 3"));
  EXPECT_THAT(StatelessRandomUniformInt({2}, seed, 0, int64_t{1} << 40),
              ErrorHas("maxval=1099511627776 must be in [-2147483648, 2147483647], the range of "
                       "int32; give DType::kInt64"));
  EXPECT_THAT(StatelessRandomUniformInt({2}, seed, 0, 1, DType::kUint8),
              ErrorHas("expects dtype int32 or int64, got uint8"));
  EXPECT_THAT(StatelessRandomUniform({Shape::kUnknownDim}, seed), ErrorHas("got [?]"));
  EXPECT_THAT(StatelessRandomUniform({INT64_MAX, INT64_MAX}, seed), ErrorHas("at most 2^31 - 1"));
}

}  // namespace
}  // namespace estimator::image
