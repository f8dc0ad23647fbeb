// Several processes that train one model: as threads of this process.
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/on_ranks.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kBatch = 16;
using Group = std::shared_ptr<ProcessGroup>;

// Dropout, batch normalization with moving averages, and Momentum.
TPUEstimatorSpec Model(const Features& features, const Labels& labels, Mode mode, const Params&) {
  const bool training = mode == Mode::kTrain;
  Tensor x = layers::Dense(features["x"], {.units = 6});
  x = Relu(layers::BatchNormalization(x, {.momentum = 0.9, .training = training}));
  x = layers::Dropout(x, {.rate = 0.3, .training = training});
  const Tensor y = layers::Dense(x, {.units = 1});
  if (mode == Mode::kPredict) return TPUEstimatorSpec::Predict({{"y", y}});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {labels, y}});
  return TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
}

// 40 examples in another order each epoch. Each host reads its part of each batch.
Dataset Input(const Params& params) {
  return Dataset::FromTensorSlices(TinyExamples(40), "tiny")
      .Shuffle(40)
      .Repeat()
      .Shard(params.context.num_hosts, params.context.current_host, params.batch_size)
      .Batch(params.batch_size, {.drop_remainder = true});
}

class TPUProcessesTest : public TPUTrainFixture {
 protected:
  //   num_shards: 0: use_tpu = false.
  static TinyTPUEstimator::Options Options(const std::string& model_dir, const Group& group,
                                           int num_shards = 8) {
    TinyTPUEstimator::Options options = TinyTPUOptions(model_dir, num_shards, /*loop=*/2);
    options.model_fn = Model;
    options.config.process_group = group;
    options.train_batch_size = options.eval_batch_size = options.predict_batch_size = kBatch;
    return options;
  }
  // Trains in `size` processes, and expects that all succeed.
  static void Train(const std::string& model_dir, int size, int64_t max_steps, int num_shards = 8) {
    const auto results = OnRanks<absl::Status>(size, [&](const Group& group) {
      TinyTPUEstimator estimator(Options(model_dir, group, num_shards));
      return estimator.Train(Input, MaxSteps(max_steps));
    });
    for (const absl::Status& result : results) EST_EXPECT_OK(result);
  }
  // The bytes of both files of a checkpoint.
  static std::string Files(const std::string& model_dir, int64_t step) {
    std::string bytes;
    for (const char* suffix : {".index", ".data-00000-of-00001"}) {
      const auto file = ReadFile(JoinPath(model_dir, absl::StrCat("model.ckpt-", step, suffix)),
                                 int64_t{1} << 20);
      EST_EXPECT_OK(file.status());
      if (file.ok()) absl::StrAppend(&bytes, *file);
    }
    return bytes;
  }
};

TEST_F(TPUProcessesTest, CheckpointsHaveTheSameBytesForEveryNumberOfProcesses) {
  const std::string alone = Dir();
  Train(alone, 1, 7);
  for (const int size : {2, 4, 8}) {
    const std::string dir = Dir();
    Train(dir, size, 7);
    EXPECT_EQ(Files(dir, 7), Files(alone, 7)) << size << " processes";
  }
}

TEST_F(TPUProcessesTest, WithoutReplicasEachProcessComputesWhatAReplicaDoes) {
  const std::string replicas = Dir(), processes = Dir();
  Train(replicas, 1, 4, /*num_shards=*/4);
  Train(processes, 4, 4, /*num_shards=*/0);
  EXPECT_EQ(Files(processes, 4), Files(replicas, 4));
}

TEST_F(TPUProcessesTest, ARunContinuesWithAnotherNumberOfProcesses) {
  const std::string alone = Dir(), changing = Dir();
  Train(alone, 1, 12);
  int64_t steps = 0;
  for (const int size : {1, 4, 4, 2, 1, 8}) Train(changing, size, steps += 2);
  EXPECT_EQ(Files(changing, 12), Files(alone, 12));
}

TEST_F(TPUProcessesTest, AnInputThatIsNotShardedByElementBeginsAgainWithAnotherNumber) {
  const std::string dir = Dir();
  const auto by_host = [](const Params& params) {
    return Dataset::FromTensorSlices(TinyExamples(40), "tiny")
        .Shard(params.context.num_hosts, params.context.current_host)
        .Shuffle(40)
        .Repeat()
        .Batch(params.batch_size, {.drop_remainder = true});
  };
  const auto train = [&](int size, int64_t steps) {
    for (const absl::Status& result : OnRanks<absl::Status>(size, [&](const Group& group) {
           TinyTPUEstimator estimator(Options(dir, group));
           return estimator.Train(by_host, MaxSteps(steps));
         }))
      EST_EXPECT_OK(result);
  };
  train(2, 2);
  const testing::CapturedLog log;
  train(4, 4);
  EXPECT_THAT(absl::StrJoin(log.warnings, "\n"),
              AllOf(HasSubstr("The input starts at its beginning"),
                    HasSubstr("the run had 2 processes that train, and has 4 now: no "
                              "Shard(context.num_hosts")));
}

TEST_F(TPUProcessesTest, EvaluationAndPredictionsAreThoseOfOneProcess) {
  const std::string dir = Dir();
  Train(dir, 1, 3);
  // 16 + 16 + 8 examples: the last batch runs on one replica.
  const auto input = [](const Params& params) { return TinyDataset(params.batch_size, 40); };
  struct Results {
    EvalResult evaluated;
    std::vector<Prediction> rows;
  };
  const auto on = [&](int size) {
    return OnRanks<Results>(size, [&](const Group& group) {
      TinyTPUEstimator estimator(Options(dir, group));
      Results results;
      const auto evaluated = estimator.Evaluate(input, {.steps = std::nullopt});
      EST_EXPECT_OK(evaluated.status());
      if (evaluated.ok()) results.evaluated = *evaluated;
      const auto rows = estimator.Predict(input, {.pass_features = {}}).All();
      EST_EXPECT_OK(rows.status());
      if (rows.ok()) results.rows = *rows;
      return results;
    });
  };
  const Results alone = on(1)[0];
  ASSERT_EQ(alone.rows.size(), 40u);
  for (const int size : {2, 4}) {
    for (const Results& results : on(size)) {
      EXPECT_EQ(results.evaluated.num_examples, 40);
      for (const auto& [name, value] : alone.evaluated.values)
        EXPECT_EQ(results.evaluated.values.at(name).AsDouble(), value.AsDouble()) << name;
      ASSERT_EQ(results.rows.size(), 40u);
      for (size_t i = 0; i < 40; ++i)
        EXPECT_EQ(results.rows[i].at("y").AsDouble(), alone.rows[i].at("y").AsDouble()) << i;
    }
  }
}

TEST_F(TPUProcessesTest, WithoutAModelDirAllHaveTheChiefs) {
  struct Results {
    std::string model_dir;
    EvalResult evaluated;
  };
  const auto on = [&](int size) {
    return OnRanks<Results>(size, [&](const Group& group) {
      TinyTPUEstimator::Options options = Options("", group);
      options.config.model_dir = std::nullopt;
      TinyTPUEstimator estimator(std::move(options));
      EST_EXPECT_OK(estimator.Train(Input, MaxSteps(3)));
      const auto evaluated = estimator.Evaluate(
          [](const Params& params) { return TinyDataset(params.batch_size, 40); },
          {.steps = std::nullopt});
      EST_EXPECT_OK(evaluated.status());
      return Results{estimator.model_dir(), evaluated.value_or(EvalResult())};
    });
  };
  const Results alone = on(1)[0];
  const std::vector<Results> both = on(2);
  EXPECT_EQ(both[1].model_dir, both[0].model_dir);
  for (const Results& results : both) {
    for (const auto& [name, value] : alone.evaluated.values)
      EXPECT_EQ(results.evaluated.values.at(name).AsDouble(), value.AsDouble()) << name;
  }
}

TEST_F(TPUProcessesTest, AllStopWhereTheDataOfOneOfThemEnd) {
  const testing::CapturedLog log;
  const std::string dir = Dir();
  const auto results =
      OnRanks<absl::StatusOr<int64_t>>(4, [&](const Group& group) -> absl::StatusOr<int64_t> {
        TinyTPUEstimator estimator(Options(dir, group));
        const auto recorder = std::make_shared<RunRecorder>();
        const auto input = [&](const Params& params) {
          return Input(params).Take(params.context.current_host == 2 ? 5 : 9);
        };
        EST_RETURN_IF_ERROR(estimator.Train(input, Steps(20), {.hooks = {recorder}}));
        return recorder->steps.back();
      });
  for (const auto& result : results) EXPECT_EQ(result.value_or(-1), 5) << result.status();
  EXPECT_THAT(absl::StrJoin(log.warnings, "\n"),
              AllOf(HasSubstr("The input of rank 2 (localhost) has ended, so all "
                              "processes stop at step 5"),
                    HasSubstr("rank 1 (localhost) has read 20 examples")));
  EXPECT_TRUE(FileExists(JoinPath(dir, "model.ckpt-5.index")));
}

TEST_F(TPUProcessesTest, BatchesOfDifferentShapesAreAnErrorThatNamesBoth) {
  const std::string dir = Dir();
  for (const absl::Status& result : OnRanks<absl::Status>(2, [&](const Group& group) {
         TinyTPUEstimator estimator(Options(dir, group, /*num_shards=*/0));
         const auto input = [](const Params& params) {
           const int count = params.context.current_host == 1 ? 12 : 16;
           return Dataset::FromTensorSlices(TinyExamples(count), "tiny").Batch(8);
         };
         return estimator.Train(input, Steps(4));
       })) {
    EXPECT_THAT(result, AllOf(ErrorHas("batches of different shapes at step 1: rank 0 (localhost)"),
                              ErrorHas("rank 1 (localhost) has"), ErrorHas("drop_remainder")));
  }
}

// Acts on one rank after a run.
struct HookOnRank : SessionRunHook {
  std::function<absl::Status(RunContext&)> act;
  int on_rank = 1;
  int64_t at_step = 4;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (context.rank() != on_rank || values.global_step != at_step) return absl::OkStatus();
    return act(context);
  }
};

TEST_F(TPUProcessesTest, AStopOfAHookOnOneRankStopsAll) {
  const std::string dir = Dir();
  const auto results =
      OnRanks<absl::StatusOr<int64_t>>(2, [&](const Group& group) -> absl::StatusOr<int64_t> {
        TinyTPUEstimator estimator(Options(dir, group));
        const auto recorder = std::make_shared<RunRecorder>();
        const auto hook = std::make_shared<HookOnRank>();
        hook->act = [](RunContext& context) {
          context.RequestStop();
          return absl::OkStatus();
        };
        EST_RETURN_IF_ERROR(estimator.Train(Input, Steps(20), {.hooks = {hook, recorder}}));
        return recorder->steps.back();
      });
  for (const auto& result : results) EXPECT_EQ(result.value_or(-1), 4) << result.status();
  EXPECT_TRUE(FileExists(JoinPath(dir, "model.ckpt-4.index")));
}

TEST_F(TPUProcessesTest, ARateThatAHookSetsOnOneRankHoldsForAll) {
  const auto run = [&](int size, int on_rank) {
    const std::string dir = Dir();
    for (const absl::Status& result : OnRanks<absl::Status>(size, [&](const Group& group) {
           TinyTPUEstimator estimator(Options(dir, group));
           const auto hook = std::make_shared<HookOnRank>();
           hook->on_rank = on_rank;
           hook->act = [](RunContext& context) { return context.session().SetLearningRate(0.125); };
           return estimator.Train(Input, Steps(8), {.hooks = {hook}});
         }))
      EST_EXPECT_OK(result);
    return Files(dir, 8);
  };
  const std::string alone = run(1, 0);
  EXPECT_EQ(run(2, 1), alone);
  EXPECT_EQ(run(4, 0), alone);
}

TEST_F(TPUProcessesTest, AnErrorOnOneRankEndsAllAndTheChiefSaves) {
  const std::string dir = Dir();
  const auto results = OnRanks<absl::Status>(2, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group));
    const auto hook = std::make_shared<HookOnRank>();
    hook->act = [](RunContext&) { return absl::DataLossError("a disk is full"); };
    return estimator.Train(Input, Steps(20), {.hooks = {hook}});
  });
  EXPECT_THAT(results[0], ErrorHas("rank 1 (localhost): a disk is full (all steps up to 4 are "
                                   "saved"));
  EXPECT_THAT(results[1], ErrorHas("a disk is full"));
  EXPECT_FALSE(ExitCodeOf(results[0]).has_value());
  EXPECT_TRUE(FileExists(JoinPath(dir, "model.ckpt-4.index")));
}

TEST_F(TPUProcessesTest, ALostProcessEndsAllWithTheExitCodeAndNothingIsLost) {
  const std::string dir = Dir(), alone = Dir();
  const auto results = OnRanks<absl::Status>(4, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group));
    const auto hook = std::make_shared<HookOnRank>();
    hook->on_rank = 3;
    hook->act = [&](RunContext&) {
      group->Abandon("killed");
      return absl::OkStatus();
    };
    return estimator.Train(Input, Steps(20), {.hooks = {hook}});
  });
  for (const absl::Status& result : results) {
    EXPECT_EQ(ExitCodeOf(result), kLostPeerExitCode) << result;
    EXPECT_THAT(result, ErrorHas("stops at step 4"));
    EXPECT_THAT(result, ErrorHas("killed"));
    EXPECT_THAT(result, ErrorHas("The command of this one: "));
  }
  Train(dir, 2, 6);
  Train(alone, 1, 6);
  EXPECT_EQ(Files(dir, 6), Files(alone, 6));
}

// The input of a rank is read ahead, so the loss comes at any instant of a step or between two.
TEST_F(TPUProcessesTest, AProcessThatIsLostDuringARunLosesNoStep) {
  constexpr int64_t kSteps = 14, kNever = -1;
  const std::string alone = Dir();
  Train(alone, 1, kSteps);
  const auto train = [](const std::string& dir, int64_t lost_at_batch) {
    return OnRanks<absl::Status>(2, [&](const Group& group) {
      TinyTPUEstimator estimator(Options(dir, group));
      const auto num_read = std::make_shared<std::atomic<int64_t>>(0);
      const auto input = [&](const Params& params) {
        return Input(params).Map([=](const Element& batch) {
          if (group->rank() == 1 && ++*num_read == lost_at_batch) group->Abandon("killed");
          return batch;
        });
      };
      return estimator.Train(input, MaxSteps(kSteps));
    });
  };
  for (const int64_t lost_at_batch : {5, 6, 7, 8, 9}) {
    const std::string dir = Dir();
    for (const absl::Status& result : train(dir, lost_at_batch))
      EXPECT_EQ(ExitCodeOf(result), kLostPeerExitCode) << result;
    for (const absl::Status& result : train(dir, kNever)) EST_EXPECT_OK(result);
    EXPECT_EQ(Files(dir, kSteps), Files(alone, kSteps)) << lost_at_batch;
  }
}

TEST_F(TPUProcessesTest, AnInterruptStopsAllAfterTheStepAndTheChiefSaves) {
  const std::string dir = Dir();
  const auto results = OnRanks<absl::Status>(2, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group));
    const auto hook = std::make_shared<HookOnRank>();
    hook->act = [](RunContext&) {
      RequestInterruptForTest();
      return absl::OkStatus();
    };
    return estimator.Train(Input, Steps(20), {.hooks = {hook}});
  });
  for (const absl::Status& result : results) {
    EXPECT_TRUE(absl::IsCancelled(result)) << result;
    EXPECT_THAT(result, ErrorHas("interrupted at step "));
    EXPECT_THAT(result, ErrorHas("; saved in "));
  }
}

TEST_F(TPUProcessesTest, DifferencesAreNamedBeforeTheFirstStep) {
  const auto error = [&](const std::function<void(TinyTPUEstimator::Options&)>& change) {
    const std::string dir = Dir();
    const auto results = OnRanks<absl::Status>(2, [&](const Group& group) {
      TinyTPUEstimator::Options options = Options(dir, group);
      if (group->rank() == 1) change(options);
      TinyTPUEstimator estimator(options);
      return estimator.Train(Input, Steps(2));
    });
    EXPECT_EQ(results[0], results[1]);
    return std::string(results[0].message());
  };
  EXPECT_THAT(error([](auto& options) { options.config.tf_random_seed = 8; }),
              AllOf(HasSubstr("the seed (tf_random_seed) of rank 1 (localhost) is 8, that of rank "
                              "0 (localhost) 7"),
                    HasSubstr("hash of variable")));
  EXPECT_THAT(error([](auto& options) {
                options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                                      const Params& params) {
                  TPUEstimatorSpec spec = Model(features, labels, mode, params);
                  Multiply(features["x"], 2.0);
                  return spec;
                };
              }),
              HasSubstr("the program (the graph of model_fn) of rank 1"));
}

TEST_F(TPUProcessesTest, ANaNOnOneRankIsFoundByAll) {
  const std::string dir = Dir();
  const auto results = OnRanks<absl::Status>(2, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group, 2));
    const auto input = [](const Params& params) {
      Element examples = TinyExamples(40);
      if (params.context.current_host == 1) examples.features.at("x").data<float>()[7] = NAN;
      return Dataset::FromTensorSlices(examples).Repeat().Batch(params.batch_size);
    };
    return estimator.Train(input, Steps(4));
  });
  for (const absl::Status& result : results) {
    EXPECT_THAT(result, ErrorHas("NaN"));
    EXPECT_THAT(result, ErrorHas("on rank 1 (localhost)"));
  }
}

TEST_F(TPUProcessesTest, SizesThatTheProcessesDoNotDivideAreAnError) {
  const auto error = [&](int size, int num_shards, int64_t batch) {
    const std::string dir = Dir();
    const auto results = OnRanks<absl::Status>(size, [&](const Group& group) {
      TinyTPUEstimator::Options options = Options(dir, group, num_shards);
      options.train_batch_size = batch;
      TinyTPUEstimator estimator(options);
      return estimator.Train(Input, Steps(2));
    });
    return std::string(results[1].message());
  };
  EXPECT_THAT(error(3, 8, 24), HasSubstr("number of replicas (num_shards) 8 must be divisible by "
                                         "number of processes 3"));
  EXPECT_THAT(error(3, 0, 16), HasSubstr("train batch size 16 must be divisible by number of "
                                         "processes 3"));
}

TEST_F(TPUProcessesTest, ProcessesThatReadTheSameAreWarned) {
  const testing::CapturedLog log;
  const std::string dir = Dir();
  for (const absl::Status& result : OnRanks<absl::Status>(2, [&](const Group& group) {
         TinyTPUEstimator estimator(Options(dir, group));
         return estimator.Train(TinyTrainInput, Steps(2));
       }))
    EST_EXPECT_OK(result);
  EXPECT_THAT(absl::StrJoin(log.warnings, "\n"),
              HasSubstr("The first batch of rank 1 (localhost) is that of rank 0"));
}

TEST_F(TPUProcessesTest, TrainAndEvaluateEvaluatesOnTheChief) {
  const auto run = [&](int size) {
    const std::string dir = Dir();
    const auto results =
        OnRanks<absl::StatusOr<TrainAndEvaluateResult>>(size, [&](const Group& group) {
          TinyTPUEstimator::Options options = Options(dir, group);
          options.config.save_checkpoints_steps = 2;
          TinyTPUEstimator estimator(options);
          return TrainAndEvaluate(estimator, TrainSpec<Params>{.input_fn = Input, .max_steps = 6},
                                  EvalSpec<Params>{.input_fn = TinyEvalInput, .throttle_secs = 0});
        });
    for (const auto& result : results) EST_EXPECT_OK(result.status());
    const auto& chief = results[0];
    const bool evaluated = chief.ok() && chief->eval_result.has_value();
    EXPECT_TRUE(evaluated);
    return evaluated ? chief->eval_result->values.at("loss").AsDouble() : -1;
  };
  const double alone = run(1);
  EXPECT_EQ(run(2), alone);
}

TEST_F(TPUProcessesTest, EpochsOfSeveralProcessesHaveTheHistoryOfOne) {
  const auto run = [&](int size) {
    const std::string dir = Dir();
    const auto results = OnRanks<absl::StatusOr<History>>(size, [&](const Group& group) {
      TinyTPUEstimator estimator(Options(dir, group));
      return estimator.TrainEpochs(
          Input, {.epochs = 3, .steps_per_epoch = 3, .validation_input_fn = TinyEvalInput});
    });
    for (const auto& result : results) EST_EXPECT_OK(result.status());
    return results;
  };
  const auto alone = run(1);
  ASSERT_TRUE(alone[0].ok());
  for (const auto& history : run(4)) {
    ASSERT_TRUE(history.ok());
    EXPECT_EQ((*history)["loss"], (*alone[0])["loss"]);
    EXPECT_EQ((*history)["val_loss"], (*alone[0])["val_loss"]);
  }
}

// Fixed bug: only the chief got the weights, and a later Evaluate mixed two models.
TEST_F(TPUProcessesTest, WeightsThatACallbackRestoresAreThoseOfAll) {
  const auto run = [&](int size) {
    const std::string dir = Dir();
    return OnRanks<std::vector<double>>(size, [&](const Group& group) {
      TinyTPUEstimator estimator(Options(dir, group));
      // No epoch is better than the first one by so much, so the second one is the last.
      const HookPtr stop = callbacks::EarlyStopping(
          {.monitor = "loss", .min_delta = 1e6, .patience = 1, .restore_best_weights = true});
      EST_EXPECT_OK(
          estimator.TrainEpochs(Input, {.epochs = 9, .steps_per_epoch = 3, .hooks = {stop}})
              .status());
      std::vector<double> values;
      for (int i = 0; i < 2; ++i) {
        const auto evaluated = estimator.Evaluate(
            [](const Params& params) { return TinyDataset(params.batch_size, 40); },
            {.steps = std::nullopt});
        EST_EXPECT_OK(evaluated.status());
        if (!evaluated.ok()) return values;
        EXPECT_EQ(evaluated->global_step(), i == 0 ? 6 : 8);
        for (const auto& [name, value] : evaluated->values) values.push_back(value.AsDouble());
        EST_EXPECT_OK(estimator.Train(Input, Steps(2)));  // from the restored weights
      }
      return values;
    });
  };
  const std::vector<double> alone = run(1)[0];
  ASSERT_EQ(alone.size(), 8u);
  for (const std::vector<double>& values : run(4)) EXPECT_EQ(values, alone);
}

TEST_F(TPUProcessesTest, AVariableThatAHookSetsOnOneRankIsThatOfAll) {
  //   at_step: 8 is the last one, whose checkpoint is saved again.
  const auto run = [&](int size, int on_rank, int64_t at_step) {
    const std::string dir = Dir();
    for (const absl::Status& result : OnRanks<absl::Status>(size, [&](const Group& group) {
           TinyTPUEstimator estimator(Options(dir, group));
           const auto hook = std::make_shared<HookOnRank>();
           hook->on_rank = on_rank;
           hook->at_step = at_step;
           hook->act = [](RunContext& context) {
             EST_RETURN_IF_ERROR(
                 context.session().variables().Set("dense_1/bias", Array::Of<float>({1}, {0.75f})));
             return context.session().VariablesWereSet();
           };
           return estimator.Train(Input, Steps(8), {.hooks = {hook}});
         }))
      EST_EXPECT_OK(result);
    return Files(dir, 8);
  };
  const std::string alone = run(1, 0, 4);
  EXPECT_NE(alone, run(1, 0, /*at_step=*/1000)) << "the test sees that a variable is set";
  EXPECT_EQ(run(2, 0, 4), alone);
  EXPECT_EQ(run(4, 3, 4), alone);
  EXPECT_EQ(run(2, 1, 8), run(1, 0, 8));
}

TEST_F(TPUProcessesTest, TheChiefAloneMayEvaluateAndPredict) {
  const std::string dir = Dir();
  Train(dir, 1, 3);
  const auto results = OnRanks<std::vector<double>>(2, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group));
    const auto input = [](const Params& params) { return TinyDataset(params.batch_size, 40); };
    std::vector<double> values;
    const auto predict = [&] {
      const auto rows = estimator.Predict(input, {.pass_features = {}}).All();
      EST_EXPECT_OK(rows.status());
      if (!rows.ok()) return;
      for (const Prediction& row : *rows) values.push_back(row.at("y").AsDouble());
    };
    if (estimator.peers().is_chief()) {
      const Peers::ChiefAlone alone(estimator.peers());
      EST_EXPECT_OK(estimator.Evaluate(input, {.steps = std::nullopt}).status());
      predict();
      EXPECT_EQ(values.size(), 40u);
      values.clear();
    }
    predict();
    return values;
  });
  EXPECT_EQ(results[0].size(), 40u);
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(TPUProcessesTest, AllReturnTheFrozenGraphThatTheChiefWrites) {
  const std::string dir = Dir();
  Train(dir, 1, 3);
  const auto frozen = OnRanks<FrozenGraph>(2, [&](const Group& group) {
    TinyTPUEstimator estimator(Options(dir, group));
    const auto written = estimator.WriteFrozenGraph(
        JoinPath(dir, "frozen.pb"),
        BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}));
    EST_EXPECT_OK(written.status());
    return written.value_or(FrozenGraph());
  });
  EXPECT_EQ(*ReadFile(JoinPath(dir, "frozen.pb")), frozen[0].graph_def);
  EXPECT_EQ(frozen[1].graph_def, frozen[0].graph_def);
  EXPECT_EQ(frozen[1].inputs, frozen[0].inputs);
  EXPECT_EQ(frozen[1].outputs.count("y"), 1u);
}

}  // namespace
}  // namespace estimator::tpu
