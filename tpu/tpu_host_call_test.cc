// Training on replicas: host_call.
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using TPUHostCallTest = TPUTrainFixture;

// Behaviour M13, with the numbers of TensorFlow's test: 42 steps in loops of 21, a record every 5
// steps.
TEST_F(TPUHostCallTest, HostCallRunsAtEveryStepOrEveryNthOfALoop) {
  const auto records = [&](int replicas, int64_t every_n) {
    auto options = TinyTPUOptions(Dir(), replicas, 21);
    options.config.tpu_config.experimental_host_call_every_n_steps = every_n;
    std::vector<int64_t> steps;
    options.model_fn = [&steps](const Features& features, const Labels& labels, Mode mode,
                                const Params& params) {
      const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
      const HostCall record{[&steps](const std::vector<Array>& values) {
                              const int64_t step = values[0].data<int64_t>()[0];
                              if (step % 5 == 0) steps.push_back(step);
                              return absl::OkStatus();
                            },
                            {Reshape(GetOrCreateGlobalStep(), Shape{1})}};
      return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.host_call = record});
    };
    TinyTPUEstimator estimator(options);
    const absl::Status trained = estimator.Train(TinyTrainInput, Steps(42));
    EST_EXPECT_OK(trained);
    return steps;
  };
  EXPECT_THAT(records(4, 1), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40));
  EXPECT_THAT(records(4, 2), ElementsAre(0, 10, 20, 25, 35));
  EXPECT_THAT(records(0, 2), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40)) << "locally, always";
}

TEST_F(TPUHostCallTest, ALambdaTakesEachTensorAsAParameter) {
  std::vector<std::string> seen;
  auto options = TinyTPUOptions(Dir(), 2);
  options.model_fn = [&seen](const Features& features, const Labels& labels, Mode mode,
                             const Params& params) {
    const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
    const HostCall call{[&seen](const Array& step, const Array& x) {
                          seen.push_back(step.TypeString() + " " + x.TypeString());
                        },
                        {Reshape(GetOrCreateGlobalStep(), Shape{1}), features["x"]}};
    return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.host_call = call});
  };
  TinyTPUEstimator estimator(options);
  EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(1)));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_THAT(seen[0], HasSubstr("i64 [2] f32 ["));

  options.config.model_dir = Dir();
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
    const HostCall call{[](const Array&, const Array&) {}, {features["x"]}};
    return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.host_call = call});
  };
  EXPECT_THAT(TrainError(options), HasSubstr("host_call: the function takes 2 tensors, given 1"));
}

TEST_F(TPUHostCallTest, AScalarInHostCallIsRefusedAndItsErrorStopsTraining) {
  const auto with = [&](bool scalar) {
    auto options = TinyTPUOptions(Dir(), 2);
    options.model_fn = [scalar](const Features& features, const Labels& labels, Mode mode,
                                const Params& params) {
      const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
      const Tensor step = GetOrCreateGlobalStep();
      const HostCall call{[](const std::vector<Array>& values) {
                            EXPECT_EQ(values[0].shape(), (Shape{2})) << "joined over the replicas";
                            return absl::UnavailableError("host broke");
                          },
                          {scalar ? step : Reshape(step, Shape{1})}};
      return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.host_call = call});
    };
    return options;
  };
  EXPECT_THAT(TrainError(with(true)), HasSubstr("of host_call is a scalar; reshape it to [1]"));
  EXPECT_EQ(TrainError(with(false)), "host broke");
}

}  // namespace
}  // namespace estimator::tpu
