#include "estimator/training/model/host_function.h"

#include <string>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using Call = HostFunction<absl::Status, Array>;
using Metrics = HostFunction<std::map<std::string, int>, Tensor>;

absl::Status Fails(const Array& x, const Array& y) {
  return absl::UnavailableError(x.TypeString() + y.TypeString());
}

class HostFunctionTest : public testing::Test {
 protected:
  std::vector<double> seen_;
  const Tensor a_, b_;
  const std::vector<Array> values_ = {Array::Scalar(1.f), Array::Scalar(2.f)};
};

TEST_F(HostFunctionTest, ALambdaTakesEachTensorAsAParameter) {
  const Call call{[this](const Array& step, const Array& loss) {
                    seen_ = {step.AsDouble(), loss.AsDouble()};
                    return absl::OkStatus();
                  },
                  {a_, b_}};
  EST_EXPECT_OK(call.status);
  EXPECT_EQ(call.tensors.size(), 2u);
  EST_EXPECT_OK(call.fn(values_));
  EXPECT_THAT(seen_, ElementsAre(1, 2));
}

TEST_F(HostFunctionTest, AFunctionOfTheHostMayReturnNothing) {
  const Call call{[this](const Array& step, const Array&) { seen_ = {step.AsDouble()}; }, {a_, b_}};
  EST_EXPECT_OK(call.fn(values_));
  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(HostFunctionTest, AFunctionsErrorIsReturned) {
  EXPECT_EQ((Call{Fails, {a_, b_}}.fn(values_).message()), "f32 []f32 []");
}

TEST_F(HostFunctionTest, AListAndADictArriveWhole) {
  const Call list{[this](const std::vector<Array>& all) { seen_ = {all[1].AsDouble()}; }, {a_, b_}};
  EST_EXPECT_OK(list.fn(values_));
  EXPECT_THAT(seen_, ElementsAre(2));
  const Call dict{[this](const std::map<std::string, Array>& all) {
                    seen_ = {all.at("loss").AsDouble(), all.at("step").AsDouble()};
                  },
                  {{"step", a_}, {"loss", b_}}};
  EST_EXPECT_OK(dict.fn(values_));
  EXPECT_THAT(seen_, ElementsAre(1, 2)) << "tensors are in the order of the names";
  const std::map<std::string, Tensor> named = {{"x", a_}};
  const Call by_map{
      [this](const std::map<std::string, Array>& all) { seen_ = {all.at("x").AsDouble()}; }, named};
  EST_EXPECT_OK(by_map.fn(values_));
  EXPECT_THAT(seen_, ElementsAre(1));
}

TEST_F(HostFunctionTest, AnotherNumberOfParametersIsAnError) {
  EXPECT_THAT((Call{[](const Array&) {}, {a_, b_}}.status),
              ErrorIs("the function takes 1 tensors, given 2"));
  EXPECT_THAT((Call{Fails, {a_}}.status), ErrorIs("the function takes 2 tensors, given 1"));
}

TEST_F(HostFunctionTest, MetricsTakeTensors) {
  const Metrics metrics{[](const Tensor&, const Tensor&, const Tensor&) {
                          return std::map<std::string, int>{{"accuracy", 3}};
                        },
                        {a_, b_, a_}};
  EXPECT_EQ(metrics.fn({a_, b_, a_}).at("accuracy"), 3);
  const Metrics none{[] { return std::map<std::string, int>{{"constant", 1}}; }, {}};
  EXPECT_EQ(none.fn({}).at("constant"), 1);
  EXPECT_FALSE(Metrics().fn);
}

}  // namespace
}  // namespace estimator
