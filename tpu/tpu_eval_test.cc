// Evaluation and prediction on replicas: exact, whatever the batch size and the number of replicas.
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TPUEvalTest : public ::testing::Test {
 protected:
  // All estimators of a test share one model_dir, trained for 4 steps.
  void SetUp() override {
    TinyTPUEstimator estimator(Options(2));
    const absl::Status trained = estimator.Train(TinyTrainInput, Steps(4));
    EST_ASSERT_OK(trained);
  }
  TinyTPUEstimator::Options Options(int replicas) {
    return TinyTPUOptions(dir_.File("m"), replicas, 4);
  }
  absl::Status EvaluateError(const TinyTPUEstimator::ModelFn& model_fn) {
    auto options = Options(2);
    options.model_fn = model_fn;
    TinyTPUEstimator estimator(options);
    return estimator.Evaluate(TinyEvalInput).status();
  }
  TempDir dir_;
};

TEST_F(TPUEvalTest, LossMetricsAndPredictionsAreTheSameForEveryBatchSizeAndReplicaCount) {
  double loss = 0, mae = 0;
  std::vector<double> rows;
  for (const int replicas : {0, 1, 2, 4}) {
    for (const int64_t batch : {20, 1, 3, 7, 4, 16}) {
      if (replicas > 1 && batch % replicas != 0) continue;
      SCOPED_TRACE(std::to_string(replicas) + " replicas, batches of " + std::to_string(batch));
      auto options = Options(replicas);
      options.eval_batch_size = options.predict_batch_size = batch;
      TinyTPUEstimator estimator(options);
      const auto result = estimator.Evaluate(TinyEvalInput);
      EST_ASSERT_OK(result);
      EXPECT_EQ(result->num_examples, 20);
      EXPECT_EQ(result->global_step(), 4);
      const auto predictions = estimator.Predict(TinyEvalInput).All();
      EST_ASSERT_OK(predictions);
      ASSERT_EQ(predictions->size(), 20u);
      if (rows.empty()) {
        loss = (*result)["loss"];
        mae = (*result)["mae"];
        for (const Prediction& row : *predictions) rows.push_back(row.at("y").AsDouble());
      }
      EXPECT_NEAR((*result)["loss"], loss, 1e-6 * loss);
      EXPECT_NEAR((*result)["mae"], mae, 1e-6 * mae);
      for (size_t i = 0; i < 20; ++i)
        EXPECT_NEAR((*predictions)[i].at("y").AsDouble(), rows[i], 1e-6) << "row " << i;
    }
  }
}

TEST_F(TPUEvalTest, AMetricOfTheHostGetsTheRowsOfAllReplicasInOrder) {
  const Array labels = TinyExamples().labels.at("");
  for (const int replicas : {0, 2, 4}) {
    for (const int64_t batch : {20, 8, 4}) {
      SCOPED_TRACE(absl::StrCat(replicas, " replicas, batches of ", batch));
      auto options = Options(replicas);
      options.eval_batch_size = batch;
      options.model_fn = [](const Features& features, const Labels& given, Mode, const Params&) {
        const Tensor y = TinyNetwork(features, false, 0);
        return TPUEstimatorSpec::Eval(
            TinyLoss(given, y), {[](const Tensor& labels, const Tensor& predictions) -> MetricMap {
                                   return {{"mae", metrics::MeanAbsoluteError(labels, predictions)},
                                           {"rows", metrics::Concat(labels)}};
                                 },
                                 {given, y}});
      };
      const auto result = TinyTPUEstimator(options).Evaluate(TinyEvalInput);
      EST_ASSERT_OK(result);
      const Array rows = result->values.at("rows");
      ASSERT_EQ(rows.TypeString(), labels.TypeString());
      for (int64_t i = 0; i < rows.num_elements(); ++i)
        EXPECT_EQ(rows.AsDouble(i), labels.AsDouble(i)) << i;
    }
  }
}

TEST_F(TPUEvalTest, AMetricOfTheHostThatTakesATensorOfTheModelIsRefused) {
  EXPECT_THAT(
      EvaluateError([](const Features& features, const Labels& labels, Mode, const Params&) {
        const Tensor y = TinyNetwork(features, false, 0);
        return TPUEstimatorSpec::Eval(TinyLoss(labels, y), {[y](const Tensor&) -> MetricMap {
                                                              return {{"rows", metrics::Concat(y)}};
                                                            },
                                                            {y}});
      }),
      ErrorHas("eval_metrics: 'rows' is computed from '"));
}

TEST_F(TPUEvalTest, StringsPassBesideTheReplicasToTheirRows) {
  Element examples = TinyExamples();
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(absl::StrCat("image_", i));
  examples.features["name"] = Array::Strings(names);
  using Config = InputPipelineConfig;
  for (const Config config : {Config::PER_HOST_V1, Config::PER_HOST_V2}) {
    for (const int replicas : {1, 4}) {
      SCOPED_TRACE(absl::StrCat(replicas, " replicas, ", static_cast<int>(config)));
      auto options = Options(replicas);
      options.config.tpu_config.per_host_input_for_training = config;
      TinyTPUEstimator estimator(options);
      const auto rows =
          estimator
              .Predict(
                  [&](const Params& params) {
                    return Dataset::FromTensorSlices(examples).Batch(params.batch_size);
                  },
                  {.pass_features = {"name"}})
              .All();
      EST_ASSERT_OK(rows);
      ASSERT_EQ(rows->size(), 20u);
      for (size_t i = 0; i < rows->size(); ++i)
        EXPECT_EQ((*rows)[i].at("name").scalar<std::string>(), names[i]);
    }
  }
}

// Behaviour L5, and the modes of training.
TEST_F(TPUEvalTest, InputModesGiveTheSameResult) {
  const double loss = (*TinyTPUEstimator(Options(0)).Evaluate(TinyEvalInput))["loss"];
  using Config = InputPipelineConfig;
  struct Case {
    Config training, eval;
    int64_t input_batch, model_batch;
  };
  for (const Case& c : {Case{Config::PER_HOST_V1, Config::PER_HOST_V1, 8, 2},
                        Case{Config::PER_HOST_V2, Config::PER_HOST_V1, 2, 2},
                        Case{Config::PER_SHARD_V1, Config::PER_HOST_V1, 8, 2},
                        Case{Config::BROADCAST, Config::PER_HOST_V1, 8, 8},
                        Case{Config::PER_HOST_V2, Config::SLICED, 8, 2}}) {
    SCOPED_TRACE(std::to_string(static_cast<int>(c.training)) + " " +
                 std::to_string(static_cast<int>(c.eval)));
    auto options = Options(4);
    options.config.tpu_config.per_host_input_for_training = c.training;
    options.config.tpu_config.eval_training_input_configuration = c.eval;
    std::vector<int64_t> model_batches;
    options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                           const Params& params) {
      model_batches.push_back(params.batch_size);
      return TinyTPUModel(features, labels, mode, params);
    };
    TinyTPUEstimator estimator(options);
    int num_calls = 0;
    const auto result = estimator.Evaluate([&](const Params& params) {
      ++num_calls;
      EXPECT_EQ(params.batch_size, c.input_batch);
      return TinyEvalInput(params);
    });
    EST_ASSERT_OK(result);
    EXPECT_EQ(num_calls, 1);
    EXPECT_EQ(result->num_examples, 20);
    EXPECT_NEAR((*result)["loss"], loss, 1e-6 * loss);
    ASSERT_EQ(model_batches.size(), 2u) << "full batches, and the last, smaller one";
    EXPECT_EQ(model_batches[0], c.model_batch);
    EXPECT_EQ(model_batches[1], 4);
    EXPECT_EQ(estimator.Predict(TinyEvalInput).All()->size(), 20u);
  }
}

// Behaviour M5.
TEST_F(TPUEvalTest, BatchSizesMustBeGivenOnReplicas) {
  auto options = Options(2);
  options.eval_batch_size = options.predict_batch_size = std::nullopt;
  TinyTPUEstimator estimator(options);
  EXPECT_THAT(estimator.Evaluate(TinyEvalInput), ErrorHas("eval_batch_size must be given"));
  EXPECT_THAT(estimator.Predict(TinyEvalInput).Next(),
              ErrorHas("predict_batch_size must be given"));
}

// Behaviour M7 (a hook sees every step here; TensorFlow runs them all at once).
TEST_F(TPUEvalTest, StepsAreCountedWithAndWithoutMetrics) {
  for (const bool metrics : {true, false}) {
    auto options = Options(2);
    options.model_fn = [metrics](const Features& features, const Labels& labels, Mode mode,
                                 const Params& params) {
      const TPUEstimatorSpec spec = TinyTPUModel(features, labels, mode, params);
      return metrics ? spec : TPUEstimatorSpec::Eval(spec.spec().loss);
    };
    TinyTPUEstimator estimator(options);
    for (const int64_t steps : {2, 6}) {
      const auto recorder = std::make_shared<RunRecorder>();
      const auto result = estimator.Evaluate(TinyTrainInput, {.steps = steps, .hooks = {recorder}});
      EST_ASSERT_OK(result);
      EXPECT_EQ(result->num_steps, steps);
      EXPECT_EQ(static_cast<int64_t>(recorder->steps.size()), steps);
      EXPECT_EQ(result->values.count("mae"), metrics ? 1u : 0u);
    }
  }
}

// Behaviour M8.
TEST_F(TPUEvalTest, MetricsAsAListAndAsADictAgreeOnReplicasAndLocally) {
  std::vector<double> values;
  for (const int replicas : {0, 2}) {
    for (const int form : {0, 1, 2, 3, 4}) {
      auto options = Options(replicas);
      options.model_fn = [form](const Features& features, const Labels& labels, Mode,
                                const Params&) {
        const Tensor y = TinyNetwork(features, false, 0), truth = labels,
                     loss = TinyLoss(labels, y);
        if (form == 0) return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {truth, y}});
        if (form == 1) {
          return TPUEstimatorSpec::Eval(
              loss, {[](const std::vector<Tensor>& all) { return TinyMetrics(all[0], all[1]); },
                     {truth, y}});
        }
        if (form == 2) {
          return TPUEstimatorSpec::Eval(
              loss, {[](const Tensor& labels, const Tensor& y) { return TinyMetrics(labels, y); },
                     {truth, y}});
        }
        const auto of_dict = [](const std::map<std::string, Tensor>& all) {
          return TinyMetrics(all.at("labels"), all.at("predictions"));
        };
        if (form == 3)
          return TPUEstimatorSpec::Eval(loss, {of_dict, {{"predictions", y}, {"labels", truth}}});
        const std::map<std::string, Tensor> named = {{"predictions", y}, {"labels", truth}};
        return TPUEstimatorSpec::Eval(loss, {of_dict, named});
      };
      TinyTPUEstimator estimator(options);
      const auto result = estimator.Evaluate(TinyEvalInput);
      EST_ASSERT_OK(result);
      values.push_back((*result)["mae"]);
      EXPECT_NEAR(values.back(), values[0], 1e-6 * values[0])
          << replicas << " replicas, form " << form;
    }
  }
}

TEST_F(TPUEvalTest, AScalarMetricTensorAWrongCountAndReservedNamesAreRefused) {
  EXPECT_THAT(
      EvaluateError([](const Features& features, const Labels& labels, Mode, const Params&) {
        const Tensor y = TinyNetwork(features, false, 0), loss = TinyLoss(labels, y);
        return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {loss, loss}});
      }),
      ErrorIs(AllOf(
          HasSubstr("tensor 0 of eval_metrics ('tiny_loss:0', f32 []) is a scalar; it must keep "
                    "the batch axis"),
          HasSubstr("tensor 1 of eval_metrics"))));
  EXPECT_THAT(
      EvaluateError([](const Features& features, const Labels& labels, Mode, const Params&) {
        const Tensor y = TinyNetwork(features, false, 0);
        return TPUEstimatorSpec::Eval(TinyLoss(labels, y), {TinyMetrics, {y}});
      }),
      ErrorHas("eval_metrics: the function takes 2 tensors, given 1"));
  for (const std::string name : {"loss", "global_step"}) {
    EXPECT_THAT(
        EvaluateError([name](const Features& features, const Labels& labels, Mode, const Params&) {
          const Tensor y = TinyNetwork(features, false, 0);
          return TPUEstimatorSpec::Eval(TinyLoss(labels, y),
                                        {[name](const std::vector<Tensor>& all) {
                                           return MetricMap{{name, metrics::Mean(all[0])}};
                                         },
                                         {y}});
        }),
        ErrorHas("eval_metrics: '" + name + "' is a name that evaluation uses itself"));
  }
}

struct BatchCounter final : SessionRunHook {
  int num_begun = 0;
  std::vector<Tensor> BeforeRun(RunContext&) override {
    ++num_begun;
    return {};
  }
};

// A fixed bug: the first batch had run when metrics were built.
TEST_F(TPUEvalTest, MetricsThatCannotBeBuiltAreFoundBeforeABatchIsComputed) {
  for (const int replicas : {0, 2}) {
    const auto batches = std::make_shared<BatchCounter>();
    auto options = Options(replicas);
    options.model_fn = [&](const Features& features, const Labels& labels, Mode, const Params&) {
      const Tensor y = TinyNetwork(features, false, 0), loss = TinyLoss(labels, y);
      return TPUEstimatorSpec::Eval(
          loss,
          {[](const std::vector<Tensor>& all) {
             const Tensor mean = ReduceMean(all[0]);
             return MetricMap{{"my_loss", {.value = mean, .update = metrics::Mean(all[0]).update}}};
           },
           {y}},
          {.evaluation_hooks = {batches}});
    };
    const auto result = TinyTPUEstimator(options).Evaluate(TinyEvalInput);
    EXPECT_EQ(batches->num_begun, 0);
    EXPECT_THAT(
        result,
        ErrorIs(AllOf(HasSubstr("eval_metrics: the value of 'my_loss' (f32 []) is one of a batch"),
                      HasSubstr("the function's argument eval_metrics_0"))));
  }
}

TEST_F(TPUEvalTest, EvalOnTpuFalseRunsOneReplicaWithTheWholeBatch) {
  auto options = Options(2);
  options.eval_on_tpu = false;
  options.eval_batch_size = 7;  // need not be divisible
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    if (mode == Mode::kEval) {
      EXPECT_FALSE(params.use_tpu);
      EXPECT_EQ(params.context.num_replicas, 1);
    }
    return TinyTPUModel(features, labels, mode, params);
  };
  TinyTPUEstimator estimator(options);
  const auto result = estimator.Evaluate(TinyEvalInput),
             on_replicas = TinyTPUEstimator(Options(2)).Evaluate(TinyEvalInput);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->num_steps, 3);
  EXPECT_NEAR((*result)["loss"], (*on_replicas)["loss"], 1e-6 * (*on_replicas)["loss"]);
}

// Behaviour M9, with TensorFlow's numbers: 24 samples, batch 16, 2 replicas.
TEST_F(TPUEvalTest, PredictsEverySampleOnce) {
  auto options = Options(2);
  options.predict_batch_size = 16;
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::PER_HOST_V2;
  TinyTPUEstimator replicas(options), local(Options(0));
  const auto input = [](const Params& params) { return TinyDataset(params.batch_size, 24); };
  const auto a = replicas.Predict(input).All(), b = local.Predict(input).All();
  EST_ASSERT_OK(a);
  EST_ASSERT_OK(b);
  ASSERT_EQ(a->size(), 24u);
  for (size_t i = 0; i < 24; ++i)
    EXPECT_NEAR((*a)[i].at("y").AsDouble(), (*b)[i].at("y").AsDouble(), 1e-6);
}

// Behaviours M6 and section 2.11: hooks of the spec, and host_call in evaluation and prediction.
TEST_F(TPUEvalTest, TheSpecsHooksAndHostCallRunInEvaluationAndPrediction) {
  const auto eval_hook = std::make_shared<RunRecorder>(),
             predict_hook = std::make_shared<RunRecorder>();
  std::vector<int64_t> rows;
  auto options = Options(2);
  options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                         const Params& params) {
    const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
    const HostCall call{[&rows](const std::vector<Array>& values) {
                          rows.push_back(values[0].shape().dim(0));
                          return absl::OkStatus();
                        },
                        {features["x"]}};
    if (mode == Mode::kEval)
      return TPUEstimatorSpec::Eval(spec.loss, {},
                                    {.host_call = call, .evaluation_hooks = {eval_hook}});
    return TPUEstimatorSpec::Predict(spec.predictions,
                                     {.host_call = call, .prediction_hooks = {predict_hook}});
  };
  TinyTPUEstimator estimator(options);
  EST_ASSERT_OK(estimator.Evaluate(TinyEvalInput));
  EXPECT_EQ(rows, (std::vector<int64_t>{8, 8, 4})) << "joined over the replicas";
  EXPECT_EQ(eval_hook->steps.size(), 3u);
  rows.clear();
  EST_ASSERT_OK(estimator.Predict(TinyEvalInput).All());
  EXPECT_EQ(rows, (std::vector<int64_t>{8, 8, 4}));
  EXPECT_EQ(predict_hook->steps.size(), 3u);
}

// Behaviour M13, its second half: after 42 steps of training, 7 steps of evaluation record 7 times,
// all at step 42.
TEST_F(TPUEvalTest, HostCallOfEvaluationSeesTheStepOfTheCheckpoint) {
  for (const int replicas : {0, 4}) {
    auto options = TinyTPUOptions(dir_.File(absl::StrCat("host", replicas)), replicas, 21);
    std::vector<int64_t> records;
    options.model_fn = [&records](const Features& features, const Labels& labels, Mode mode,
                                  const Params& params) {
      if (mode != Mode::kEval) return TinyTPUModel(features, labels, mode, params);
      const HostCall call{[&records](const std::vector<Array>& values) {
                            records.push_back(values[0].data<int64_t>()[0]);
                            return absl::OkStatus();
                          },
                          {Reshape(GetOrCreateGlobalStep(), Shape{1})}};
      return TPUEstimatorSpec::Eval(TinyLoss(labels, TinyNetwork(features, false, 0)), {},
                                    {.host_call = call});
    };
    TinyTPUEstimator estimator(options);
    EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(42)));
    EST_ASSERT_OK(estimator.Evaluate(TinyTrainInput, {.steps = 7}));
    EXPECT_EQ(records, std::vector<int64_t>(7, 42));
  }
}

// Behaviour M12: training keeps averages of its variables, evaluation reads those in place of the
// variables.
TEST_F(TPUEvalTest, ScaffoldFnRestoresMovingAverages) {
  for (const int replicas : {0, 2}) {
    std::map<std::string, float> losses;  // the same from disk and from memory
    for (const bool checkpoints : {true, false}) {
      for (const bool averages : {false, true}) {
        const std::string name = absl::StrCat(replicas, checkpoints ? "disk" : "memory", averages);
        SCOPED_TRACE(name);
        auto options = TinyTPUOptions(dir_.File(name), replicas, 2);
        if (!checkpoints) options.config.save_checkpoints_steps = 0;
        int num_scaffolds = 0;
        options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                               const Params&) {
          const Tensor loss = TinyLoss(labels, TinyNetwork(features, false, 0));
          const train::ExponentialMovingAverage shadow(0.5);
          if (mode == Mode::kTrain) {
            const Operation step = train::GradientDescent(0.2).Minimize(loss);
            train::ExponentialMovingAverage ema(0.5);
            return TPUEstimatorSpec::Train(loss, Group({step, ema.Apply({}, step)}));
          }
          TPUEstimatorSpecOptions more;
          more.scaffold_fn = [averages, &num_scaffolds, shadow] {
            ++num_scaffolds;
            Scaffold scaffold;
            if (averages) scaffold.restore_names = RestoreNames(shadow.VariablesToRestore());
            return scaffold;
          };
          return TPUEstimatorSpec::Eval(loss, {}, more);
        };
        TinyTPUEstimator estimator(options);
        EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(6)));
        const auto result = estimator.Evaluate(TinyEvalInput);
        EST_ASSERT_OK(result);
        EXPECT_GE(num_scaffolds, 1);
        EXPECT_EQ(result->global_step(), 6);
        const auto [it, is_new] =
            losses.emplace(averages ? "averaged" : "plain", (*result)["loss"]);
        EXPECT_EQ(it->second, (*result)["loss"]);
      }
    }
    EXPECT_NE(losses["averaged"], losses["plain"]);
  }
}

}  // namespace
}  // namespace estimator::tpu
