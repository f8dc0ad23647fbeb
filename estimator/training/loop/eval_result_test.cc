#include "estimator/training/loop/eval_result.h"

#include <cmath>

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(EvalResult, GivesNaNForWhatIsNoNumber) {
  EvalResult result;
  result.values["accuracy"] = Array::Scalar(0.5f);
  result.values["confusion"] = Array::String("a serialized Summary with a picture");
  result.values["per_class"] = Array::Of<float>({2}, {0.1f, 0.9f});
  EXPECT_EQ(result["accuracy"], 0.5);
  EXPECT_TRUE(std::isnan(result["confusion"]));
  EXPECT_TRUE(std::isnan(result["per_class"]));
  EXPECT_TRUE(std::isnan(result["recall"]));
}

TEST(EvalResult, LeavesStringsOutOfItsText) {
  EvalResult result;
  result.values["accuracy"] = Array::Scalar(0.5f);
  result.values["confusion"] = Array::String("a serialized Summary with a picture");
  result.values["global_step"] = Array::Scalar(int64_t{7});
  EXPECT_EQ(result.ToString(), "accuracy = 0.5, global_step = 7");
  EXPECT_EQ(result.global_step(), 7);
}

}  // namespace
}  // namespace estimator
