#include "tpu/tpu_estimator.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct LineParams : Params {
  double learning_rate = 0.1;
};

// y = 3 x + 1, and a step away from it with every example number.
Dataset Points(const LineParams& params) {
  constexpr int64_t kCount =
      20;  // five training batches; three full evaluation batches and two rows more
  Array x(DType::kFloat32, {kCount, 1}), y(DType::kFloat32, {kCount, 1});
  for (int64_t i = 0; i < kCount; ++i) {
    x.data<float>()[i] = static_cast<float>(i) / kCount;
    y.data<float>()[i] = 3 * x.data<float>()[i] + 1 + (i % 2 == 0 ? 0.01f : -0.01f);
  }
  return Dataset::FromTensorSlices({.features = {{"x", x}}, .labels = y}).Batch(params.batch_size);
}
Dataset TrainPoints(const LineParams& params) { return Points(params).Repeat(); }

MetricMap LineMetrics(const Tensor& labels, const Tensor& predictions) {
  return {{"mae", metrics::MeanAbsoluteError(labels, predictions)}};
}

TPUEstimatorSpec LineModel(const Features& features, const Tensor& labels, Mode mode,
                           const LineParams& params) {
  const Tensor line =
      layers::Dense(features["x"], {.units = 1, .kernel_initializer = initializers::Zeros()});
  if (mode == Mode::kPredict) return TPUEstimatorSpec::Predict({{"y", line}});
  const Tensor loss = losses::MeanSquaredError(labels, line);
  if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss, {LineMetrics, {labels, line}});
  return TPUEstimatorSpec::Train(
      loss, CrossShardOptimizer(train::GradientDescent(params.learning_rate)).Minimize(loss));
}

class TPUEstimatorTest : public ::testing::Test {
 protected:
  TPUEstimator<LineParams>::Options Options(bool use_tpu, const std::string& dir) {
    RunConfig config;
    config.model_dir = JoinPath(dir_.path(), dir);
    config.tpu_config = {.iterations_per_loop = 5, .num_shards = 2};
    return {.model_fn = LineModel,
            .config = config,
            .params = {},
            .use_tpu = use_tpu,
            .train_batch_size = 4,
            .eval_batch_size = 6,
            .predict_batch_size = 6};
  }
  TempDir dir_;
};

// Behaviour N7: the three modes, one after the other, here and on replicas.
TEST_F(TPUEstimatorTest, ConfigIsThatOfTheOptionsWithTheModelDirInUse) {
  RunConfig config;
  config.tpu_config.num_shards = 4;
  const TPUEstimator<LineParams> estimator({.model_fn = LineModel, .config = config});
  EXPECT_EQ(estimator.config().tpu_config.num_shards, 4);
  EXPECT_EQ(estimator.config().model_dir, estimator.model_dir());
  const TPUEstimator<> empty({});
  EXPECT_EQ(empty.config().master, "");
}

TEST_F(TPUEstimatorTest, FieldsThatNeedReplicasAreReportedWhenThereAreNone) {
  RunConfig config;
  config.model_dir = dir_.File("unused");
  const auto log_of = [&config] {
    const estimator::testing::CapturedLog log;
    const TPUEstimator<LineParams> estimator(
        {.model_fn = LineModel, .config = config, .params = {}, .use_tpu = false});
    return absl::StrJoin(log.warnings, "\n");
  };
  EXPECT_THAT(log_of(), Not(HasSubstr("has no effect")));
  config.master = "grpc://10.0.0.2:8470";
  config.evaluation_master = "grpc://10.0.0.3:8470";
  config.tpu_config.tpu_job_name = "worker";
  EXPECT_THAT(log_of(),
              AllOf(HasSubstr("RunConfig.master = \"grpc://10.0.0.2:8470\" has no effect"),
                    HasSubstr("RunConfig.evaluation_master = \"grpc://10.0.0.3:8470\" has no"),
                    HasSubstr("TPUConfig.tpu_job_name = \"worker\" has no effect")));
}

// The address of a TPU that this program cannot drive was once only a warning.
TEST_F(TPUEstimatorTest, ATpuOfAnotherMachineIsAnErrorOfEveryCall) {
  auto options = Options(true, "remote");
  options.config.master = "grpc://10.0.0.2:8470";
  TPUEstimator<LineParams> master(options);
  EXPECT_THAT(master.Train(TrainPoints, MaxSteps(1)),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("grpc://10.0.0.2:8470"), HasSubstr("--master=pjrt:"))));
  EXPECT_THAT(master.Evaluate(Points), ErrorHas("is on another machine"));
  options.config.master = "";
  options.config.cluster = TPUClusterResolver{.tpu = "grpc://10.0.0.9"};
  TPUEstimator<LineParams> cluster(options);
  EXPECT_THAT(cluster.Train(TrainPoints, MaxSteps(1)), ErrorHas("grpc://10.0.0.9:8470"));
}

// The config once said 8 although the CPU ran one copy of the model.
TEST_F(TPUEstimatorTest, WithoutReplicasTheConfigSaysOne) {
  auto options = Options(false, "one");
  options.config.tpu_config.num_shards = std::nullopt;
  EXPECT_EQ(TPUEstimator<LineParams>(options).config().tpu_config.replicas(), 1);
  options.use_tpu = true;
  EXPECT_EQ(TPUEstimator<LineParams>(options).config().tpu_config.replicas(), 8);
}

TEST_F(TPUEstimatorTest, TheContextNamesTheDevicesOfReplicas) {
  TPUContext context = {.num_replicas = 16, .num_hosts = 2, .num_of_replicas_per_host = 8};
  EXPECT_EQ(context.device_for_replica(3).host_device, "/task:0/device:CPU:0");
  EXPECT_EQ(context.device_for_replica(3).ordinal, 3);
  context.job = "worker";
  EXPECT_EQ(context.device_for_replica(11).host_device, "/job:worker/task:1/device:CPU:0");
  EXPECT_EQ(context.device_for_replica(11).ordinal, 3);
  EXPECT_EQ(context.tpu_host_placement_function(1), "/job:worker/task:1/device:CPU:0");
}

// Rank and size on both sides: in input_fn, where TensorFlow has them, and in model_fn.
TEST_F(TPUEstimatorTest, ParamsCarryTheReplicasTheHostsAndTheJob) {
  for (const bool use_tpu : {false, true}) {
    auto options = Options(use_tpu, use_tpu ? "params_tpu" : "params_cpu");
    options.config.tpu_config.tpu_job_name = use_tpu ? "mine" : "";
    const auto check = [use_tpu](const LineParams& params) {
      EXPECT_EQ(params.use_tpu, use_tpu);
      EXPECT_EQ(params.context.num_replicas, use_tpu ? 2 : 1);
      EXPECT_EQ(params.context.num_of_replicas_per_host, use_tpu ? 2 : 1);
      EXPECT_EQ(params.context.num_hosts, 1);
      EXPECT_EQ(params.context.current_host, 0);
      EXPECT_EQ(params.context.job, use_tpu ? "mine" : "");
    };
    options.model_fn = [check](const Features& features, const Tensor& labels, Mode mode,
                               const LineParams& params) {
      check(params);
      return LineModel(features, labels, mode, params);
    };
    TPUEstimator<LineParams> estimator(options);
    EST_EXPECT_OK(estimator.Train(
        [check](const LineParams& params) {
          check(params);
          return TrainPoints(params);
        },
        MaxSteps(2)));
  }
}

// The strings of a user's program may be std::string_views.
TEST_F(TPUEstimatorTest, NamesOfVariablesAreReadInALoopAndGivenAsViews) {
  TPUEstimator<LineParams> estimator(Options(false, "names"));
  EST_ASSERT_OK(estimator.Train(TrainPoints, MaxSteps(1)));
  std::vector<std::string> names;
  for (const std::string& name : *estimator.GetVariableNames()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("dense/bias", "dense/kernel", "global_step"));
  const std::string_view step = "global_step";
  EXPECT_EQ(estimator.GetVariableValue(step)->scalar<int64_t>(), 1);
  EXPECT_EQ(LoadVariable(std::string_view(estimator.model_dir()), step)->scalar<int64_t>(), 1);
}

TEST_F(TPUEstimatorTest, TrainsEvaluatesAndPredictsTheSameOnTheCpuAndOnReplicas) {
  TPUEstimator<LineParams> cpu(Options(false, "cpu")), replicas(Options(true, "replicas"));
  for (auto* estimator : {&cpu, &replicas}) {
    const absl::Status trained = estimator->Train(TrainPoints, MaxSteps(23));
    EST_ASSERT_OK(trained);
    EXPECT_EQ(estimator->GetVariableValue("global_step")->scalar<int64_t>(), 23);
  }
  const absl::StatusOr<EvalResult> a = cpu.Evaluate(Points), b = replicas.Evaluate(Points);
  EST_ASSERT_OK(a);
  EST_ASSERT_OK(b);
  EXPECT_EQ(a->num_examples, 20);
  EXPECT_EQ(b->num_examples, 20);
  EXPECT_NEAR((*a)["loss"], (*b)["loss"], 1e-5 * (*a)["loss"]);
  EXPECT_NEAR((*a)["mae"], (*b)["mae"], 1e-5 * (*a)["mae"]);
  EXPECT_EQ(a->global_step(), 23);
  const auto rows_a = cpu.Predict(Points).All(), rows_b = replicas.Predict(Points).All();
  EST_ASSERT_OK(rows_a);
  EST_ASSERT_OK(rows_b);
  ASSERT_EQ(rows_a->size(), 20u);
  ASSERT_EQ(rows_b->size(), 20u);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_NEAR((*rows_a)[i].at("y").AsDouble(), (*rows_b)[i].at("y").AsDouble(), 1e-5);
}

}  // namespace
}  // namespace estimator::tpu
