// Training on replicas: input modes, and how a batch is split.
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using TPUInputTest = TPUTrainFixture;

// Behaviour L1 in training, and that every mode gives the run of PER_HOST_V1 where it feeds the
// same examples.
TEST_F(TPUInputTest, InputModesCallInputFnAsOftenAndWithTheBatchThatTensorFlowDoes) {
  using Mode_ = InputPipelineConfig;
  struct Call {
    int64_t batch_size, invocation, num_invocations, replicas_fed;
  };
  const std::vector<double> expected = Losses(TinyTPUOptions(Dir(), 0), 6);
  const auto run = [&](Mode_ mode, int64_t model_batch) {
    auto options = TinyTPUOptions(Dir(), 4);
    options.config.tpu_config.per_host_input_for_training = mode;
    options.model_fn = [model_batch](const Features& features, const Labels& labels, Mode m,
                                     const Params& params) {
      EXPECT_EQ(params.batch_size, model_batch);
      EXPECT_EQ(features["x"].dim(0), model_batch);
      EXPECT_TRUE(params.use_tpu);
      EXPECT_EQ(params.context.num_replicas, 4);
      return TinyTPUModel(features, labels, m, params);
    };
    std::vector<Call> calls;
    const std::vector<double> losses = Losses(options, 6, [&](const Params& params) {
      EXPECT_EQ(params.context.num_of_replicas_per_host, 4);
      calls.push_back({params.batch_size, params.context.invocation, params.context.num_invocations,
                       params.context.replicas_fed});
      Dataset all = Dataset::FromTensorSlices(TinyExamples(24));
      if (params.context.num_invocations == 1) return all.Batch(params.batch_size).Repeat();
      // The rows that the even split of a batch of 8 gives to this replica.
      const int64_t mine = params.context.invocation;
      std::vector<Dataset> parts;
      for (int64_t batch = 0; batch < 3; ++batch)
        parts.push_back(all.Skip(8 * batch + 2 * mine).Take(2));
      return Dataset::Concatenate(parts).Batch(params.batch_size).Repeat();
    });
    ExpectSameLosses(losses, expected, 1e-5);
    return calls;
  };
  auto calls = run(Mode_::PER_HOST_V1, 2);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].batch_size, 8);
  EXPECT_EQ(calls[0].replicas_fed, 4);
  calls = run(Mode_::PER_HOST_V2, 2);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].batch_size, 2);
  calls = run(Mode_::BROADCAST, 8);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].batch_size, 8);
  calls = run(Mode_::PER_SHARD_V1, 2);
  ASSERT_EQ(calls.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(calls[i].batch_size, 2);
    EXPECT_EQ(calls[i].invocation, static_cast<int64_t>(i));
    EXPECT_EQ(calls[i].num_invocations, 4);
    EXPECT_EQ(calls[i].replicas_fed, 1);
  }
}

// Behaviour L2.
TEST_F(TPUInputTest, ABatchThatTheReplicasDoNotDivideIsRefusedExceptInBroadcast) {
  auto options = TinyTPUOptions(Dir(), 8);
  options.train_batch_size = options.eval_batch_size = options.predict_batch_size = 127;
  TinyTPUEstimator estimator(options);
  EXPECT_THAT(
      estimator.Train(TinyTrainInput, Steps(1)),
      ErrorIs("train batch size 127 must be divisible by number of replicas 8; 120 or 128 is"));
  EXPECT_THAT(estimator.Evaluate(TinyEvalInput), ErrorHas("eval batch size 127 must be divisible"));
  EXPECT_THAT(estimator.Predict(TinyEvalInput).Next(),
              ErrorHas("predict batch size 127 must be divisible"));
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  options.train_batch_size = options.eval_batch_size = 7;
  TinyTPUEstimator broadcast(options);
  const absl::Status trained = broadcast.Train(
      [](const Params& params) { return TinyDataset(params.batch_size, 21).Repeat(); }, Steps(2));
  EST_EXPECT_OK(trained);
  EXPECT_EQ(broadcast.Evaluate(TinyEvalInput)->num_examples, 20);
}

TEST_F(TPUInputTest, ABatchOfAnotherSizeThanDeclaredNamesBoth) {
  EXPECT_THAT(
      TrainError(TinyTPUOptions(Dir(), 4), [](const Params&) { return TinyDataset(6).Repeat(); }),
      HasSubstr(
          "input_fn returned a batch of 6 rows, but a step takes 8: batch by params.batch_size"));
}

// TensorFlow slices the batches of training too.
TEST_F(TPUInputTest, SlicedEvaluationLeavesBroadcastTrainingWhole) {
  auto options = TinyTPUOptions(Dir(), 4);
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  options.config.tpu_config.eval_training_input_configuration = InputPipelineConfig::SLICED;
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    const int64_t rows = features["x"].dim(0);
    if (mode == Mode::kTrain) {
      EXPECT_EQ(rows, 8);
    } else {
      EXPECT_TRUE(rows == 2 || rows == 4) << rows;  // 4: the last 4 of 20 examples, on one replica
    }
    EXPECT_EQ(params.batch_size, rows);
    return TinyTPUModel(features, labels, mode, params);
  };
  TinyTPUEstimator estimator(options);
  EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(2)));
  EXPECT_EQ(estimator.Evaluate(TinyEvalInput)->num_examples, 20);
}

// Behaviour K1.
TEST_F(TPUInputTest, BatchSizesBelongToTheEstimatorNotToParams) {
  auto options = TinyTPUOptions(Dir(), 2);
  options.params.batch_size = 8;
  options.train_batch_size = std::nullopt;
  EXPECT_THAT(TrainError(options),
              AllOf(HasSubstr("params.batch_size must not be set, because the framework sets it"),
                    HasSubstr("train_batch_size must be given when use_tpu is true")));
}

// Behaviour L6.
TEST_F(TPUInputTest, FeaturesAndLabelsMayHaveManyNamesAndLabelsMayBeMissing) {
  for (const bool labelled : {true, false}) {
    for (const int replicas : {0, 4}) {
      auto options = TinyTPUOptions(Dir(), replicas);
      options.model_fn = [labelled](const Features& features, const Labels& labels, Mode,
                                    const Params& params) {
        EXPECT_EQ(features.size(), 10u);
        EXPECT_EQ(labels.size(), labelled ? 2u : 0u);
        std::vector<Tensor> columns;
        for (const auto& [name, tensor] : features) {
          EXPECT_EQ(tensor.dim(0), params.batch_size);
          columns.push_back(Reshape(tensor, {-1, 1}));
        }
        const Tensor y = layers::Dense(AddN(columns), {.units = 1});
        const Tensor loss =
            labelled ? losses::MeanSquaredError(labels["b"], y) : ReduceMean(Square(y));
        return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.01).Minimize(loss));
      };
      TinyTPUEstimator estimator(options);
      const absl::Status trained = estimator.Train(
          [labelled](const Params& params) {
            Element all;
            const Array y = *TinyExamples(24).labels.Only();
            for (int i = 0; i < 10; ++i)
              all.features["small" + std::to_string(i)] = i % 2 == 0 ? y : y.Reshaped({24});
            if (labelled) all.labels = {{"a", y}, {"b", y}};
            return Dataset::FromTensorSlices(all).Batch(params.batch_size).Repeat();
          },
          Steps(2));
      EST_EXPECT_OK(trained);
    }
  }
}

TEST_F(TPUInputTest, AFeatureWithoutABatchAxisCannotBeSplit) {
  EXPECT_THAT(TrainError(TinyTPUOptions(Dir(), 4),
                         [](const Params& params) {
                           return TinyDataset(params.batch_size, 24)
                               .Repeat()
                               .Map([](const Element& element) -> absl::StatusOr<Element> {
                                 Element with = element;
                                 with.features["z"] = Array::Scalar(1.0f);
                                 return with;
                               });
                         }),
              HasSubstr("features['z'] is f32 []; to split it over the replicas, its axis 0 must "
                        "be the batch of 8"));
}

// The tiny model on features [2, n], as ResNet on images [H, W, C, N].
TinyTPUEstimator::Options Transposed(const std::string& dir, int replicas) {
  auto options = TinyTPUOptions(dir, replicas);
  options.batch_axis = {1, 0};
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    EXPECT_EQ(features["x"].dim(1), params.batch_size);
    const Tensor y = layers::Dense(Transpose(features["x"], {1, 0}), {.units = 1});
    if (mode == Mode::kPredict) return TPUEstimatorSpec::Predict({{"y", y}});
    const Tensor loss = TinyLoss(labels, y);
    if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {labels, y}});
    return TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
  };
  return options;
}
Dataset TransposedBatches(const Dataset& batches) {
  return batches.Map([](const Element& rows) -> absl::StatusOr<Element> {
    const Array& x = rows.features.at("x");
    Array columns(DType::kFloat32, {2, x.shape().dim(0)});
    for (int64_t i = 0; i < x.num_elements(); ++i)
      columns.data<float>()[i % 2 * x.shape().dim(0) + i / 2] = x.data<float>()[i];
    return Element{.features = {{"x", columns}}, .labels = rows.labels};
  });
}
Dataset TransposedTrainInput(const Params& params) {
  return TransposedBatches(TinyTrainInput(params));
}
Dataset TransposedEvalInput(const Params& params) {  // 20 examples in batches of 8
  return TransposedBatches(TinyEvalInput(params));
}

TEST_F(TPUInputTest, ABatchIsSplitWhereBatchAxisSaysThatItStands) {
  auto options = Transposed(Dir(), 0);
  const std::vector<double> local = Losses(options, 6, TransposedTrainInput);
  TinyTPUEstimator here(options);
  const auto expected = here.Evaluate(TransposedEvalInput);
  EST_ASSERT_OK(expected);
  EXPECT_EQ(expected->num_examples, 20);
  for (const auto mode : {InputPipelineConfig::PER_HOST_V1, InputPipelineConfig::PER_HOST_V2,
                          InputPipelineConfig::BROADCAST}) {
    SCOPED_TRACE(static_cast<int>(mode));
    options = Transposed(Dir(), 4);
    options.config.tpu_config.per_host_input_for_training = mode;
    ExpectSameLosses(Losses(options, 6, TransposedTrainInput), local, 1e-5);
    TinyTPUEstimator there(options);
    const auto result = there.Evaluate(TransposedEvalInput);
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->num_examples, 20) << "the last 4 stay together";
    EXPECT_NEAR((*result)["mae"], (*expected)["mae"], 1e-5);
    EXPECT_NEAR((*result)["loss"], (*expected)["loss"], 1e-5);
  }
}

TEST_F(TPUInputTest, ABatchAxisOfTheWrongLengthIsRefusedLocallyToo) {
  for (const int replicas : {0, 4}) {
    auto options = Transposed(Dir(), replicas);
    options.batch_axis = {1};
    const char* const error =
        "batch_axis has 1 entries; it needs one for each array of input_fn, features in name "
        "order, then labels: features['x'], labels";
    EXPECT_THAT(TrainError(options, TransposedTrainInput), HasSubstr(error));
    TinyTPUEstimator estimator(options);
    EXPECT_THAT(estimator.Evaluate(TransposedEvalInput), ErrorHas(error)) << replicas;
  }
}

TEST_F(TPUInputTest, ABatchAxisThatDoesNotFitIsRefusedOnReplicas) {
  auto options = Transposed(Dir(), 4);
  options.batch_axis = {2, 0};
  EXPECT_THAT(TrainError(options, TransposedTrainInput),
              HasSubstr("features['x'] is f32 [2,8]; to split it over the replicas, its axis 2 "
                        "must be the batch of 8"));
  options.batch_axis = {};
  EXPECT_THAT(TrainError(options, TransposedTrainInput), HasSubstr("set batch_axis"));
  options.batch_axis = {-1, 0};
  EXPECT_THAT(TrainError(options, TransposedTrainInput),
              HasSubstr("batch_axis must be >= 0, given -1, 0"));
}

TEST_F(TPUInputTest, PredictionsWithABatchAxisAreRefusedOnReplicasOnly) {
  const auto first = [this](int replicas, InputPipelineConfig mode) {
    auto options = TinyTPUOptions(Dir(), replicas);
    options.batch_axis = {1, 0};  // of its training
    options.config.tpu_config.per_host_input_for_training = mode;
    return TinyTPUEstimator(options).Predict(TinyEvalInput).Next().status();
  };
  for (const InputPipelineConfig mode :
       {InputPipelineConfig::PER_HOST_V1, InputPipelineConfig::PER_HOST_V2}) {
    EXPECT_THAT(first(4, mode), ErrorHas("For mode PREDICT, batch_axis is not supported yet"));
    EST_EXPECT_OK(first(0, mode));
  }
}

TEST_F(TPUInputTest, AFiniteInputEndsTrainingCleanly) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 2, 2));
  const absl::Status trained = estimator.Train(
      [](const Params& params) { return TinyDataset(params.batch_size, 24); }, Steps(100));
  EST_EXPECT_OK(trained);
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 3);
}

// Fixed bug: the loop looks at the next batch before it runs its last step; an error that it met
// there was lost, and the batch with it.
TEST_F(TPUInputTest, ABatchOfAnotherSizeWithinALoopIsAnErrorAtItsStep) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 2, 3));
  const absl::Status trained = estimator.Train(
      [](const Params& params) { return TinyDataset(params.batch_size, 20).Repeat(); }, Steps(3));
  EXPECT_THAT(trained,
              ErrorIs(AllOf(HasSubstr("input_fn returned a batch of 4 rows, but a step takes 8"),
                            HasSubstr("all steps up to 2 are saved"))));
}

}  // namespace
}  // namespace estimator::tpu
