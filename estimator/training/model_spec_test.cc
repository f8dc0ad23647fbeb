// What every mode requires of a spec.
#include "estimator/training/model/model_spec.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/training/estimator_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ModelSpecTest : public GraphTest {
 protected:
  absl::Status Error(const EstimatorSpec& given) {
    ModelSpec spec = given.spec();
    return Error(spec);
  }
  absl::Status Error(ModelSpec& spec) { return ValidateModelSpec(graph_, spec); }

  const Tensor loss_ = Constant(1.0f);
  const Operation train_op_ = AssignAdd(GetOrCreateGlobalStep(), Constant<int64_t>(1));
};

// Behaviour C1.
TEST_F(ModelSpecTest, EveryModeNamesWhatIsMissing) {
  EST_EXPECT_OK(Error(EstimatorSpec::Train(loss_, train_op_)));
  EXPECT_THAT(Error(EstimatorSpec::Train(Tensor(), Operation())),
              ErrorIs(AllOf(HasSubstr("mode train"), HasSubstr("Missing loss."),
                            HasSubstr("Missing train_op."))));
  EXPECT_THAT(Error(EstimatorSpec::Eval(Tensor())),
              ErrorIs(AllOf(HasSubstr("mode eval"), HasSubstr("Missing loss."))));
  EXPECT_THAT(Error(EstimatorSpec::Predict({})), ErrorHas("Missing predictions."));
  EXPECT_THAT(Error(EstimatorSpec::Predict({{"y", Tensor()}})),
              ErrorHas("prediction 'y' is not a tensor"));
}

// Behaviour C2.
TEST_F(ModelSpecTest, ALossIsAFloatingScalarOfThisGraph) {
  ModelSpec one = EstimatorSpec::Eval(Constant({1.0f})).spec();
  EST_EXPECT_OK(Error(one));
  EXPECT_EQ(one.loss.rank(), 0) << "shape [1] becomes a scalar";
  EXPECT_THAT(Error(EstimatorSpec::Eval(Constant({1.0f, 2.0f}))),
              ErrorHas("Loss must be scalar, given f32 [2]"));
  EXPECT_THAT(Error(EstimatorSpec::Eval(Constant(1))),
              ErrorHas("Loss must be a floating scalar, given i32 []"));
  Graph other;
  const GraphScope other_scope(other);
  EXPECT_THAT(Error(EstimatorSpec::Eval(Constant(1.0f, "elsewhere"))),
              ErrorHas("loss ('elsewhere:0') must be from the graph that model_fn was called in"));
  EXPECT_THAT(Error(EstimatorSpec::Predict({{"y", Constant(1.0f, "elsewhere")}})),
              ErrorHas("prediction 'y' ('elsewhere_1:0') must be from the graph"));
}

// Behaviour C3.
TEST_F(ModelSpecTest, AMetricIsAPairWithANameOfItsOwn) {
  const metrics::Metric metric = metrics::Mean(loss_);
  EST_EXPECT_OK(Error(EstimatorSpec::Eval(loss_, {{"mean", metric}})));
  EXPECT_THAT(Error(EstimatorSpec::Eval(loss_, {{"m", {.value = loss_, .update = Operation()}}})),
              ErrorHas("metric 'm' has no update"));
  EXPECT_THAT(
      Error(EstimatorSpec::Eval(loss_, {{"m", {.value = Tensor(), .update = metric.update}}})),
      ErrorHas("metric 'm' has no value"));
  EXPECT_THAT(Error(EstimatorSpec::Eval(loss_, {{"loss", metric}, {"global_step", metric}})),
              ErrorIs(AllOf(HasSubstr("may not be called 'loss'"),
                            HasSubstr("may not be called 'global_step'"))));
}

// A fixed bug: this was found after the last batch, without a cure.
TEST_F(ModelSpecTest, TheValueOfAMetricIsNotThatOfOneBatch) {
  const Tensor x = Placeholder(DType::kFloat32, {4}, "features/x");
  const metrics::Metric metric{.value = Identity(ReduceMean(x), "batch_mean"),
                               .update = metrics::Mean(x).update};
  EXPECT_THAT(
      Error(EstimatorSpec::Eval(loss_, {{"m", metric}})),
      ErrorIs(AllOf(HasSubstr("the value of metric 'm' (f32 [] 'batch_mean:0') is one of a batch: "
                              "it is computed from 'features/x'"),
                    HasSubstr("take metrics::Mean of a value of each example"))));
}

TEST_F(ModelSpecTest, MissingPredictionsAreSaidOnce) {
  const absl::Status error = Error(EstimatorSpec::Predict({}));
  EXPECT_THAT(error, ErrorHas("Missing predictions."));
  EXPECT_THAT(error, ErrorIs(Not(HasSubstr("export_outputs"))));
}

// What the host gets keeps a batch axis, since replicas are joined on it.
TEST_F(ModelSpecTest, TensorsForTheHostKeepTheBatchAxis) {
  ModelSpec spec = EstimatorSpec::Eval(loss_).spec();
  spec.eval_metrics = HostMetrics{[](const std::vector<Tensor>&) { return MetricMap(); },
                                  {Constant({1.0f}), loss_, Tensor()}};
  spec.host_call = HostCall{nullptr, {loss_, Tensor()}};
  EXPECT_THAT(Error(spec),
              ErrorIs(AllOf(HasSubstr("tensor 1 of eval_metrics"),
                            HasSubstr("f32 []) is a scalar; it must keep the batch axis"),
                            HasSubstr("take metrics::Mean of a value of each example"),
                            HasSubstr("tensor 2 of eval_metrics is not a tensor"),
                            HasSubstr("host_call has no function"),
                            HasSubstr("of host_call is a scalar; reshape it to [1]"),
                            HasSubstr("a tensor of host_call is not a tensor"))));
}

// Behaviour C4: without a scaffold, the default one.
TEST_F(ModelSpecTest, TheScaffoldIsTheDefaultOneWhereNoneIsGiven) {
  const ModelSpec spec = EstimatorSpec::Eval(loss_).spec();
  ASSERT_TRUE(spec.scaffold_fn != nullptr);
  EXPECT_TRUE(spec.scaffold_fn().restore_names.empty());
}

}  // namespace
}  // namespace estimator
