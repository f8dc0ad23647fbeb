#include "estimator/ops/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

class AsStringTest : public GraphTest {
 protected:
  std::vector<std::string> Text(const Tensor& x, const AsStringOptions& options = {}) {
    const absl::StatusOr<Array> text = testing::Eval(AsString(x, options));
    if (!text.ok()) return {text.status().ToString()};
    const auto strings = text->values<std::string>();
    return {strings.begin(), strings.end()};
  }

  const Tensor numbers_ = Constant({2}, {1.5f, -0.25f});
};

TEST_F(AsStringTest, WritesNumbersAsPrintfDoes) {
  EXPECT_THAT(Text(numbers_), ElementsAre("1.500000", "-0.250000"));
  EXPECT_THAT(Text(numbers_, {.precision = 1}), ElementsAre("1.5", "-0.2"));
  EXPECT_THAT(Text(numbers_, {.precision = 2, .scientific = true}),
              ElementsAre("1.50e+00", "-2.50e-01"));
  EXPECT_THAT(Text(numbers_, {.shortest = true}), ElementsAre("1.5", "-0.25"));
  EXPECT_THAT(Text(numbers_, {.precision = 2, .width = 7, .fill = "0"}),
              ElementsAre("0001.50", "-000.25"));
  EXPECT_THAT(Text(numbers_, {.precision = 2, .fill = " "}), ElementsAre(" 1.50", "-0.25"));
  EXPECT_THAT(Text(Constant<int64_t>(7), {.width = 3}), ElementsAre("  7"));
}

TEST_F(AsStringTest, RefusesWhatTensorFlowRefuses) {
  const auto error = [&](DType dtype, const AsStringOptions& options) {
    return ErrorOf([&] { AsString(Ones({2}, dtype), options); });
  };
  EXPECT_THAT(error(DType::kInt32, {.precision = 3}), HasSubstr("precision not supported"));
  EXPECT_THAT(error(DType::kBool, {.shortest = true}), HasSubstr("bool"));
  EXPECT_THAT(error(DType::kFloat32, {.scientific = true, .shortest = true}),
              HasSubstr("Cannot select both"));
  EXPECT_THAT(error(DType::kFloat32, {.fill = "x"}), HasSubstr("not supported: \"x\""));
  EXPECT_THAT(error(DType::kFloat32, {.fill = "00"}), HasSubstr("one or fewer"));
  EXPECT_THAT(error(DType::kFloat32, {.width = int64_t{1} << 40}), HasSubstr("more than 65536"));
}

}  // namespace
}  // namespace estimator
