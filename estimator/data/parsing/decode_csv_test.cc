#include "estimator/data/parsing/decode_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

const std::vector<Array>& Defaults() {
  static const auto* const defaults = new std::vector<Array>{
      Array::Scalar<int32_t>(5), Array(DType::kFloat32, {0}), Array::String("none")};
  return *defaults;
}

TEST(DecodeCsv, HasAnArrayForEachField) {
  EST_ASSERT_OK_AND_ASSIGN(const std::vector<Array> fields, DecodeCsv("1,2.5,a", Defaults()));
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].scalar<int32_t>(), 1);
  EXPECT_EQ(fields[1].scalar<float>(), 2.5f);
  EXPECT_EQ(fields[2].scalar<std::string>(), "a");
}

TEST(DecodeCsv, OfManyLinesHasTheirShape) {
  const Array lines = Array::Of<std::string>({1, 3}, {"1,2,a", ",3,", "7,4,\"x,\"\"y\nz\"\"\""});
  EST_ASSERT_OK_AND_ASSIGN(const std::vector<Array> fields, DecodeCsv(lines, Defaults()));
  EXPECT_EQ(Compare(fields[0], Array::Of<int32_t>({1, 3}, {1, 5, 7})).report, "");
  EXPECT_EQ(Compare(fields[1], Array::Of<float>({1, 3}, {2, 3, 4})).report, "");
  EXPECT_EQ(Compare(fields[2], Array::Of<std::string>({1, 3}, {"a", "none", "x,\"y\nz\""})).report,
            "");
}

TEST(DecodeCsv, NumbersAreThoseOfTensorFlow) {
  const auto of = [](const std::string& text, DType dtype) -> double {
    const auto fields = DecodeCsv(text + ",", {Array(dtype, {0}), Array::String("")});
    return fields.ok() ? (*fields)[0].AsDouble() : -1000;
  };
  constexpr double kError = -1000, kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kInt32, DType::kInt64}) {
    EXPECT_EQ(of(" -7 ", dtype), -7);
    for (const char* bad : {"+5", "0x10", "1e3", "1_0", "99999999999999999999", "x"}) {
      EXPECT_EQ(of(bad, dtype), kError) << bad;
    }
  }
  EXPECT_EQ(of("99999999999", DType::kInt32), kError);
  EXPECT_EQ(of("99999999999", DType::kInt64), 99999999999);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    EXPECT_EQ(of(" +5 ", dtype), 5);
    EXPECT_EQ(of("  ", dtype), 0);
    EXPECT_EQ(of("0x10", dtype), 16);
    EXPECT_EQ(of("-0x10", dtype), -16);
    EXPECT_EQ(of("1e3", dtype), 1000);
    EXPECT_EQ(of("1.", dtype), 1);
    EXPECT_EQ(of("-.5", dtype), -0.5);
    EXPECT_EQ(of("-INF", dtype), -kInf);
    EXPECT_TRUE(std::isnan(of("NaN", dtype)));
    for (const char* bad : {"Infinity", "infinit", "1.5f", "1 2", "e3"}) {
      EXPECT_EQ(of(bad, dtype), kError) << bad;
    }
  }
  EXPECT_EQ(of("1e99", DType::kFloat32), kInf);
  EXPECT_EQ(of("1e99", DType::kFloat64), 1e99);
}

TEST(DecodeCsv, OptionsChangeTheDelimiterQuotesAndMissingValues) {
  const std::vector<Array> two = {Array::Scalar<int32_t>(5), Array::String("none")};
  const auto text = [&](StringArg line, const DecodeCsvOptions& options) {
    return DecodeCsv(line, two, options).value()[1].scalar<std::string>();
  };
  EXPECT_EQ(text("1;a,b", {.field_delim = ";"}), "a,b");
  EXPECT_EQ(text("1,a\"b", {.use_quote_delim = false}), "a\"b");
  EXPECT_EQ(text("1,NA", {.na_value = "NA"}), "none");
  EXPECT_EQ(text("x,3,y,z", {.select_cols = {1, 3}}), "z");
  EXPECT_EQ(DecodeCsv("NA,", two, {.na_value = "NA"}).value()[0].scalar<int32_t>(), 5);
}

TEST(DecodeCsv, ErrorsHaveTensorFlowsWords) {
  const auto error = [](StringArg line) { return DecodeCsv(line, Defaults()).status(); };
  EXPECT_THAT(error("1,2"), ErrorIs("Expect 3 fields but have 2"));
  EXPECT_THAT(error(""), ErrorIs("Expect 3 fields but have 0"));
  EXPECT_THAT(error("1,,a"), ErrorIs("Field 1 is required but missing!"));
  EXPECT_THAT(error("1x,2,a"), ErrorIs("Field 0 is not a valid int32: 1x"));
  EXPECT_THAT(error("1,y,a"), ErrorIs("Field 1 is not a valid float: y"));
  EXPECT_THAT(error("1,2,a\"b"), ErrorIs("Unquoted fields cannot have quotes/CRLFs inside"));
  EXPECT_THAT(error("1,2,\"a"),
              ErrorIs("Quoted field has to end with quote followed by delim or end"));
  EXPECT_THAT(error("1,\"2\"3,a"),
              ErrorIs("Quote inside a string has to be escaped by another quote"));
  EXPECT_THAT(DecodeCsv(Array::Strings({"1,2,a", "1,,a"}), Defaults()),
              ErrorIs("Field 1 is required but missing in record 1!"));
}

TEST(DecodeCsv, BadOptionsAreErrors) {
  const auto error = [](const std::vector<Array>& defaults, const DecodeCsvOptions& options) {
    return DecodeCsv("1", defaults, options).status();
  };
  const std::vector<Array> one = {Array::Scalar<int32_t>(5)};
  EXPECT_THAT(error(one, {.field_delim = ";;"}), ErrorHas("only 1 char"));
  EXPECT_THAT(error(one, {.field_delim = ""}), ErrorHas("only 1 char"));
  EXPECT_THAT(error({}, {}), ErrorHas("record_defaults is empty"));
  EXPECT_THAT(error({Array(DType::kBool, {})}, {}), ErrorHas("record_defaults[0] is bool []"));
  EXPECT_THAT(error({Array(DType::kInt32, {2})}, {}), ErrorHas("give one value, or none"));
  EXPECT_THAT(error(one, {.select_cols = {0, 1}}), ErrorHas("select_cols has 2 columns"));
  EXPECT_THAT(error({one[0], one[0]}, {.select_cols = {2, 1}}),
              ErrorHas("not strictly increasing"));
  EXPECT_THAT(DecodeCsv(Array::Scalar(1.0f), one), ErrorHas("reads strings, not f32 []"));
}

}  // namespace
}  // namespace estimator
