#include "estimator/data/pipeline/element_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

Element Example() {
  return {.features = {{"image", Array::Of<uint8_t>({2, 2}, {1, 2, 3, 255})},
                       {"none", Array(DType::kFloat32, {0, 3})},
                       {"words", Array::Strings({"a", "", std::string("b\0c", 3)})}},
          .labels = Array::Scalar<int64_t>(-7)};
}

TEST(ElementBytes, GiveTheElementBack) {
  const Element element = ElementFromBytes(ElementToBytes(Example())).value();
  EXPECT_EQ(element.ToString(), Example().ToString());
  for (const auto& [name, array] : Example().features) {
    EXPECT_EQ(Compare(element.features.at(name), array).report, "") << name;
  }
  EXPECT_EQ(element.labels.Only()->scalar<int64_t>(), -7);
  EXPECT_EQ(ElementFromBytes(ElementToBytes({}))->ToString(), "");
}

TEST(ElementBytes, HaveTheFormatOfTheHeader) {
  const Element element = {.features = {{"x", Array::Of<uint8_t>({2}, {5, 6})}}, .labels = {}};
  EXPECT_EQ(ElementToBytes(element), std::string("\x01\x01x\x04\x01\x02\x02\x05\x06\x00", 10));
}

TEST(ElementBytes, ThatAreDamagedAreRefused) {
  const std::string bytes = ElementToBytes(Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_THAT(ElementFromBytes(bytes.substr(0, i)), StatusIs(absl::StatusCode::kDataLoss)) << i;
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    ElementFromBytes(damaged).IgnoreError();  // another element or an error, but no crash
  }
  EXPECT_THAT(ElementFromBytes(bytes + "x"), ErrorHas("1 bytes follow its end"));
}

}  // namespace
}  // namespace estimator
