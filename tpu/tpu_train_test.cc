// Training on replicas: loops, gradients, host_call, input modes.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/temp_dir.h"
#include "estimator/training/hooks/testing/captured_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TPUTrainTest : public ::testing::Test {
 protected:
  void TearDown() override { ClearInterrupt(); }
  // A fresh model_dir each time.
  std::string Dir() { return dir_.File("m" + std::to_string(num_dirs_++)); }
  // The loss of every step.
  std::vector<double> Losses(const TinyTPUEstimator::Options& options, int64_t steps,
                             const TinyTPUEstimator::InputFnType& input_fn = TinyTrainInput) {
    TinyTPUEstimator estimator(options);
    const auto recorder = std::make_shared<RunRecorder>();
    const absl::Status trained = estimator.Train(input_fn, Steps(steps), {.hooks = {recorder}});
    EXPECT_TRUE(trained.ok()) << trained;
    return recorder->losses;
  }
  static void ExpectSameLosses(const std::vector<double>& a, const std::vector<double>& b,
                               double relative) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], relative * b[i]) << "step " << i + 1;
  }
  std::string TrainError(const TinyTPUEstimator::Options& options,
                         const TinyTPUEstimator::InputFnType& input_fn = TinyTrainInput) {
    TinyTPUEstimator estimator(options);
    const absl::Status first = estimator.Train(input_fn, Steps(2)),
                       second = estimator.Train(input_fn, Steps(2));
    EXPECT_FALSE(first.ok());
    EXPECT_EQ(first, second) << "the second call fails as the first does";
    return std::string(first.message());
  }

  TempDir dir_;
  int num_dirs_ = 0;
};

// Behaviour M1: global steps that hooks see, from scratch and from step 3.
TEST_F(TPUTrainTest, TheLastLoopIsShortened) {
  const auto seen = [&](int shards, int loop, int64_t start, const TrainLength& length) {
    TinyTPUEstimator estimator(TinyTPUOptions(Dir(), shards, loop));
    if (start > 0) {
      EXPECT_TRUE(estimator.Train(TinyTrainInput, Steps(start)).ok());
    }
    const auto recorder = std::make_shared<RunRecorder>();
    const absl::Status trained = estimator.Train(TinyTrainInput, length, {.hooks = {recorder}});
    EXPECT_TRUE(trained.ok()) << trained;
    return recorder->steps;
  };
  EXPECT_THAT(seen(2, 4, 0, Steps(10)), ElementsAre(4, 8, 10));
  EXPECT_THAT(seen(2, 4, 0, MaxSteps(10)), ElementsAre(4, 8, 10));
  EXPECT_THAT(seen(2, 4, 3, Steps(10)), ElementsAre(7, 11, 13));
  EXPECT_THAT(seen(2, 4, 3, MaxSteps(10)), ElementsAre(7, 10));
  EXPECT_THAT(seen(2, 40, 0, Steps(12)), ElementsAre(12));
  EXPECT_THAT(seen(2, 4, 3, MaxSteps(3)), ElementsAre());
  EXPECT_THAT(seen(0, 4, 0, Steps(3)), ElementsAre(1, 2, 3)) << "locally, a run is a step";
}

// Behaviour M2.
TEST_F(TPUTrainTest, StepsMustBePositive) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 2));
  EXPECT_EQ(estimator.Train(TinyTrainInput, Steps(-1)).message(),
            "Must specify steps > 0, given: -1");
  EXPECT_EQ(estimator.Evaluate(TinyEvalInput, {.steps = 0}).status().message(),
            "Must specify steps > 0, given: 0");
}

// Behaviour N8, by its effect: 20 losses in a row need the same gradients.
TEST_F(TPUTrainTest, OneShardAndSeveralGiveTheSameLosses) {
  const std::vector<double> local = Losses(TinyTPUOptions(Dir(), 0), 20);
  for (const int shards : {1, 2, 4, 8})
    ExpectSameLosses(Losses(TinyTPUOptions(Dir(), shards), 20), local, 1e-5);
}

TEST_F(TPUTrainTest, TheSameSeedGivesTheSameBitsOnShardsWhateverTheLoop) {
  std::set<std::string> bits;
  for (const int loop : {1, 5, 5}) {
    auto options = TinyTPUOptions(Dir(), 4, loop);
    options.model_fn = [](const Features& features, const Labels& labels, Mode, const Params&) {
      const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, /*dropout=*/0.4));
      return TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
    };
    TinyTPUEstimator estimator(options);
    ASSERT_TRUE(estimator.Train(TinyTrainInput, Steps(10)).ok());
    bits.insert(*CheckpointBits(**estimator.LatestCheckpoint()));
  }
  EXPECT_EQ(bits.size(), 1u);
}

// Wrapped by hand, by the loop, or not at all.
TinyTPUEstimator::Options Wrapped(const std::string& dir, int shards, const std::string& how) {
  auto options = TinyTPUOptions(dir, shards);
  options.model_fn = [how](const Features& features, const Labels& labels, Mode, const Params&) {
    const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
    train::Momentum bare(0.02, 0.9);
    Operation train_op;
    if (how == "bare") train_op = bare.Minimize(loss);
    if (how == "mean") train_op = CrossShardOptimizer(bare).Minimize(loss);
    if (how == "sum") train_op = CrossShardOptimizer(bare, Reduction::kSum).Minimize(loss);
    if (how == "two calls") train_op = bare.ApplyGradients(bare.ComputeGradients(loss));
    if (how == "gradients" || how == "summed by hand") {  // of the program's own: the sum
      std::vector<train::GradientAndVariable> pairs;
      const std::vector<Variable> variables = Graph::Current().TrainableVariables();
      std::vector<Tensor> gradients = Gradients(loss, variables);
      if (how == "summed by hand") {
        for (Tensor& gradient : gradients) gradient = CrossReplicaSum(gradient);
        gradients = ClipByGlobalNorm(gradients, 1e6).tensors;
      }
      for (size_t i = 0; i < variables.size(); ++i) pairs.push_back({gradients[i], variables[i]});
      train_op = bare.ApplyGradients(pairs);
    }
    if (how == "unsummed") {
      std::vector<Operation> updates = {AssignAdd(GetOrCreateGlobalStep(), Constant<int64_t>(1))};
      const std::vector<Variable> variables = Graph::Current().TrainableVariables();
      const std::vector<Tensor> gradients = Gradients(loss, variables);
      for (size_t i = 0; i < variables.size(); ++i)
        updates.push_back(AssignAdd(variables[i], Multiply(gradients[i], -0.1)));
      train_op = Group(updates);
    }
    return TPUEstimatorSpec::Train(loss, train_op);
  };
  return options;
}

// Behaviour M3, and TensorFlow's split of the work: the mean scales the loss, applying sums.
TEST_F(TPUTrainTest, WrappingByHandByTheLoopAndLocallyGivesTheSameNumbersNeverTwice) {
  const std::vector<double> expected = Losses(Wrapped(Dir(), 0, "bare"), 8);
  for (const int shards : {0, 4}) {
    for (const char* how : {"bare", "mean", "two calls"}) {
      SCOPED_TRACE(std::string(how) + " on " + std::to_string(shards));
      ExpectSameLosses(Losses(Wrapped(Dir(), shards, how), 8), expected, 1e-5);
    }
  }
  // The sum over 4 shards is 4 times the mean: another run, and the same one both ways.
  const std::vector<double> sum = Losses(Wrapped(Dir(), 4, "sum"), 3);
  EXPECT_GT(std::abs(sum[1] - expected[1]), 1e-3 * expected[1]);
  ExpectSameLosses(Losses(Wrapped(Dir(), 4, "gradients"), 3), sum, 1e-5);
  // So is that of a program that sums and clips before it hands the gradients on.
  ExpectSameLosses(Losses(Wrapped(Dir(), 4, "summed by hand"), 3), sum, 1e-5);
}

TEST_F(TPUTrainTest, WrappingByTheLoopIsSaidOnceAndOnlyWhereItHappens) {
  const auto said = [this](int shards, const std::string& how) {
    const testing::CapturedLog log;
    TinyTPUEstimator estimator(Wrapped(Dir(), shards, how));
    const InputFn input = estimator.Input(TinyTrainInput);
    for (int call = 0; call < 3; ++call) EXPECT_TRUE(estimator.Train(input, Steps(1)).ok());
    return std::count_if(log.infos.begin(), log.infos.end(), [](const std::string& line) {
      return absl::StrContains(line, "sums its gradients over 4 shards");
    });
  };
  EXPECT_EQ(said(4, "bare"), 1);
  EXPECT_EQ(said(4, "mean"), 0);
  EXPECT_EQ(said(0, "bare"), 0);
}

TEST_F(TPUTrainTest, GradientsThatNobodySumsAreRefusedOnShardsOnly) {
  EXPECT_THAT(TrainError(Wrapped(Dir(), 4, "unsummed")),
              AllOf(HasSubstr("no gradient is summed over the 4 shards"),
                    HasSubstr("tpu::CrossShardOptimizer")));
  Losses(Wrapped(Dir(), 0, "unsummed"), 2);
  Losses(Wrapped(Dir(), 1, "unsummed"), 2);
}

// Behaviour M13, with the numbers of TensorFlow's test: 42 steps in loops of 21, a record every 5
// steps.
TEST_F(TPUTrainTest, HostCallRunsAtEveryStepOrEveryNthOfALoop) {
  const auto records = [&](int shards, int64_t every_n) {
    auto options = TinyTPUOptions(Dir(), shards, 21);
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
    EXPECT_TRUE(trained.ok()) << trained;
    return steps;
  };
  EXPECT_THAT(records(4, 1), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40));
  EXPECT_THAT(records(4, 2), ElementsAre(0, 10, 20, 25, 35));
  EXPECT_THAT(records(0, 2), ElementsAre(0, 5, 10, 15, 20, 25, 30, 35, 40)) << "locally, always";
}

TEST_F(TPUTrainTest, AScalarInHostCallIsRefusedAndItsErrorStopsTraining) {
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

// Behaviour L1 in training, and that every mode gives the run of PER_HOST_V1 where it feeds the
// same examples.
TEST_F(TPUTrainTest, InputModesCallInputFnAsOftenAndWithTheBatchThatTensorFlowDoes) {
  using Mode_ = InputPipelineConfig;
  struct Call {
    int64_t batch_size, invocation, num_invocations;
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
      calls.push_back(
          {params.batch_size, params.context.invocation, params.context.num_invocations});
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
  }
}

// Behaviour L2.
TEST_F(TPUTrainTest, ABatchThatTheReplicasDoNotDivideIsRefusedExceptInBroadcast) {
  auto options = TinyTPUOptions(Dir(), 8);
  options.train_batch_size = options.eval_batch_size = options.predict_batch_size = 127;
  TinyTPUEstimator estimator(options);
  EXPECT_EQ(estimator.Train(TinyTrainInput, Steps(1)).message(),
            "train batch size 127 must be divisible by number of replicas 8; 120 or 128 is");
  EXPECT_THAT(std::string(estimator.Evaluate(TinyEvalInput).status().message()),
              HasSubstr("eval batch size 127 must be divisible"));
  EXPECT_THAT(std::string(estimator.Predict(TinyEvalInput).Next().status().message()),
              HasSubstr("predict batch size 127 must be divisible"));
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  options.train_batch_size = options.eval_batch_size = 7;
  TinyTPUEstimator broadcast(options);
  const absl::Status trained = broadcast.Train(
      [](const Params& params) { return TinyDataset(params.batch_size, 21).Repeat(); }, Steps(2));
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(broadcast.Evaluate(TinyEvalInput)->num_examples, 20);
}

TEST_F(TPUTrainTest, ABatchOfAnotherSizeThanDeclaredNamesBoth) {
  EXPECT_THAT(
      TrainError(TinyTPUOptions(Dir(), 4), [](const Params&) { return TinyDataset(6).Repeat(); }),
      HasSubstr("input_fn gave a batch of 6 rows, a step takes 8: batch by params.batch_size"));
}

// Behaviour K1.
TEST_F(TPUTrainTest, BatchSizesBelongToTheEstimatorNotToParams) {
  auto options = TinyTPUOptions(Dir(), 2);
  options.params.batch_size = 8;
  options.train_batch_size = std::nullopt;
  EXPECT_THAT(TrainError(options),
              AllOf(HasSubstr("params.batch_size is filled in by the framework"),
                    HasSubstr("train_batch_size must be given when use_tpu is true")));
}

// Behaviour M6.
TEST_F(TPUTrainTest, TheSpecsHooksAreCalledOnceALoop) {
  auto options = TinyTPUOptions(Dir(), 2, 4);
  const auto hook = std::make_shared<RunRecorder>();
  options.model_fn = [hook](const Features& features, const Labels& labels, Mode mode,
                            const Params& params) {
    const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
    return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.training_hooks = {hook}});
  };
  Losses(options, 6);
  EXPECT_THAT(hook->steps, ElementsAre(4, 6));
  EXPECT_EQ(hook->num_ends, 1);
}

TEST_F(TPUTrainTest, AnInterruptFinishesTheLoopAndSaves) {
  class Interrupter : public SessionRunHook {
    std::vector<Tensor> BeforeRun(RunContext& context) override {
      if (context.global_step() == 4) RequestInterruptForTest();
      return {};
    }
  };
  const auto options = TinyTPUOptions(Dir(), 2, 4);
  TinyTPUEstimator estimator(options);
  const absl::Status status =
      estimator.Train(TinyTrainInput, MaxSteps(20), {.hooks = {std::make_shared<Interrupter>()}});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(status.message()), HasSubstr("interrupted at step 8; saved in"));
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 8);
  ClearInterrupt();
  TinyTPUEstimator restarted(options), whole(TinyTPUOptions(Dir(), 2, 4));
  ASSERT_TRUE(restarted.Train(TinyTrainInput, MaxSteps(20)).ok());
  ASSERT_TRUE(whole.Train(TinyTrainInput, MaxSteps(20)).ok());
  EXPECT_EQ(*CheckpointBits(**restarted.LatestCheckpoint()),
            *CheckpointBits(**whole.LatestCheckpoint()));
}

TEST_F(TPUTrainTest, ANaNInOneReplicaInTheMiddleOfALoopNamesStepTensorAndReplica) {
  auto options = TinyTPUOptions(Dir(), 4, 5);
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    const Tensor logs = Log(features["x"], "logs");
    const Tensor loss = TinyLoss(labels, layers::Dense(logs, {.units = 1}));
    if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss);
    return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
    static_cast<void>(params);
  };
  TinyTPUEstimator estimator(options);
  const absl::Status status = estimator.Train(
      [](const Params& params) {
        Array x(DType::kFloat32, {24, 1});
        for (int64_t i = 0; i < 24; ++i)
          x.data<float>()[i] = i == 21 ? -1.0f : 1.0f + static_cast<float>(i);
        return Dataset::FromTensorSlices(
                   {.features = {{"x", x}}, .labels = TinyExamples(24).labels})
            .Batch(params.batch_size)
            .Repeat();
      },
      Steps(10));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("NaN loss during training, at step 3"),
                    HasSubstr("logs:0 (f32 [2,1]) is NaN at [1,0] on replica 2")));
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 0)
      << "only the first checkpoint is there";
}

// Behaviour L6.
TEST_F(TPUTrainTest, FeaturesAndLabelsMayHaveManyNamesAndLabelsMayBeMissing) {
  for (const bool labelled : {true, false}) {
    for (const int shards : {0, 4}) {
      auto options = TinyTPUOptions(Dir(), shards);
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
      EXPECT_TRUE(trained.ok()) << trained;
    }
  }
}

TEST_F(TPUTrainTest, AFeatureWithoutABatchAxisCannotBeSplit) {
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
              HasSubstr("features['z'] is f32 []; to be split over the replicas it needs the batch "
                        "of 8 on axis 0"));
}

// Moving averages are updates of the graph's own: nobody can forget them.
TEST_F(TPUTrainTest, BatchNormsAveragesMoveOnShardsWithoutBeingAskedFor) {
  auto options = TinyTPUOptions(Dir(), 2);
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode, const Params&) {
    const Tensor normal =
        layers::BatchNormalization(features["x"], {.training = mode == Mode::kTrain});
    const Tensor loss = TinyLoss(labels, layers::Dense(normal, {.units = 1}));
    return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.01).Minimize(loss));
  };
  TinyTPUEstimator estimator(options);
  ASSERT_TRUE(estimator.Train(TinyTrainInput, Steps(3)).ok());
  EXPECT_NE(estimator.GetVariableValue("batch_normalization/moving_mean")->AsDouble(0), 0);
  EXPECT_NE(estimator.GetVariableValue("batch_normalization/moving_variance")->AsDouble(0), 1);
}

TEST_F(TPUTrainTest, AFiniteInputEndsTrainingCleanly) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 2, 2));
  const absl::Status trained = estimator.Train(
      [](const Params& params) { return TinyDataset(params.batch_size, 24); }, Steps(100));
  EXPECT_TRUE(trained.ok()) << trained;
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 3);
}

}  // namespace
}  // namespace estimator::tpu
