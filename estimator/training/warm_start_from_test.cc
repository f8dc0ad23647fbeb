// Where a run's variables begin: warm_start_from, InitFromCheckpoint, moving averages in place of
// weights, and what a checkpoint may lack.
#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/object_names.h"
#include "estimator/export/serving/load_predictor.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/train/exponential_moving_average.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/proto/trackable_object_graph.pb.h"
#include "estimator/training/testing/tiny_model.h"
#include "estimator/training/warm_start/init_from_checkpoint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };
constexpr auto Once = [](const TinyParams&) { return TinyDataset(4); };

// Keeps what the variables are when a session begins.
class VariablesRecorder : public SessionRunHook {
 public:
  std::map<std::string, Array> values;

  absl::Status AfterCreateSession(Session& session) override {
    for (const std::string& name : session.variables().Names())
      values[name] = session.variables().Peek(name)->Clone();
    return absl::OkStatus();
  }
};

class WarmStartFromTest : public ::testing::Test {
 protected:
  // "old": the tiny model after 6 steps.
  void SetUp() override {
    Estimator<TinyParams> old(TinyOptions(dir_.File("old")));
    const absl::Status trained = old.Train(Endless, Steps(6));
    EST_ASSERT_OK(trained);
  }
  Estimator<TinyParams>::Options Options(const std::string& name,
                                         WarmStartFrom warm_start_from = {}) {
    auto options = TinyOptions(dir_.File(name));
    options.config.tf_random_seed = 8;  // other first values than those of "old"
    options.warm_start_from = std::move(warm_start_from);
    return options;
  }
  Array Value(const std::string& directory, const std::string& name) {
    const absl::StatusOr<Array> value = LoadVariable(dir_.File(directory), name);
    EST_EXPECT_OK(value);
    return value.ok() ? *value : Array();
  }
  void ExpectSame(const Array& a, const Array& b) { EXPECT_EQ(a.ToString(1000), b.ToString(1000)); }
  void ExpectBeginsAtOld(const Estimator<TinyParams>::Options& options, const std::string& name) {
    Estimator<TinyParams> estimator(options);
    const absl::Status trained = estimator.Train(Endless, Steps(1));
    EST_ASSERT_OK(trained);
    for (const char* variable : {"dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"}) {
      SCOPED_TRACE(variable);
      ExpectSame(Value(name + "/model.ckpt-0", variable), Value("old", variable));
    }
  }
  TempDir dir_;
};

// Behaviour D11.
TEST_F(WarmStartFromTest, TrainBeginsAtTheOldValuesAndAtStepZero) {
  ExpectBeginsAtOld(Options("new", dir_.File("old")), "new");
  EXPECT_EQ(Value("new/model.ckpt-0", "global_step").scalar<int64_t>(), 0);
  EXPECT_EQ(Value("new/model.ckpt-0", "dense_1/bias/Momentum").AsDouble(), 0);
  EXPECT_EQ(*LoadGlobalStep(dir_.File("new")), 1);
}

// Behaviour D11.
TEST_F(WarmStartFromTest, ASavedModelsDirectoryServesAsWell) {
  const auto reader = LoadCheckpoint(dir_.File("old")).value();
  EST_ASSERT_OK(CreateDirectories(dir_.File("saved/variables")));
  const auto writer = BundleWriter::Open(dir_.File("saved/variables/variables")).value();
  for (const char* name : {"dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"})
    EST_ASSERT_OK(writer->Add(name, *reader->Read(name)));
  EST_ASSERT_OK(writer->Finish());
  ExpectBeginsAtOld(Options("new", dir_.File("saved")), "new");
}

TEST_F(WarmStartFromTest, ACheckpointOfTheRunItselfComesFirst) {
  Estimator<TinyParams> first(Options("new"));
  EST_ASSERT_OK(first.Train(Endless, Steps(2)));
  const Array own = Value("new", "dense/kernel");
  Estimator<TinyParams> second(Options("new", dir_.File("old")));
  const auto seen = std::make_shared<VariablesRecorder>();
  EST_ASSERT_OK(second.Train(Endless, Steps(1), {.hooks = {seen}}));
  ExpectSame(seen->values.at("dense/kernel"), own);
}

TEST_F(WarmStartFromTest, TrainingOnWithoutCheckpointsDoesNotWarmStartAgain) {
  auto options = Options("new", dir_.File("old"));
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.save_checkpoints_secs = std::nullopt;
  Estimator<TinyParams> estimator(options);
  const auto first = std::make_shared<VariablesRecorder>(),
             second = std::make_shared<VariablesRecorder>();
  EST_ASSERT_OK(estimator.Train(Endless, Steps(3), {.hooks = {first}}));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1), {.hooks = {second}}));
  ExpectSame(first->values.at("dense/kernel"), Value("old", "dense/kernel"));
  EXPECT_NE(second->values.at("dense/kernel").ToString(),
            first->values.at("dense/kernel").ToString());
  EXPECT_EQ(second->values.at("global_step").scalar<int64_t>(), 3);
}

// Behaviour E3.
TEST_F(WarmStartFromTest, EvaluateWithoutACheckpointUsesTheOldValues) {
  Estimator<TinyParams> old(TinyOptions(dir_.File("old")));
  Estimator<TinyParams> fresh(Options("fresh")), warm(Options("new", dir_.File("old")));
  const auto of_old = old.Evaluate(Once), of_fresh = fresh.Evaluate(Once);
  for (int call = 0; call < 2; ++call) {
    const auto of_warm = warm.Evaluate(Once);
    EST_ASSERT_OK(of_warm);
    EXPECT_EQ((*of_warm)["loss"], (*of_old)["loss"]);
    EXPECT_NE((*of_warm)["loss"], (*of_fresh)["loss"]);
    EXPECT_EQ(of_warm->global_step(), 0);
  }
  EST_ASSERT_OK(warm.Train(Endless, Steps(5)));
  EXPECT_NE((*warm.Evaluate(Once))["loss"], (*of_old)["loss"]) << "its own checkpoint counts now";
}

// Behaviour F7.
TEST_F(WarmStartFromTest, PredictWithoutACheckpointUsesTheOldValues) {
  Estimator<TinyParams> old(TinyOptions(dir_.File("old"))), warm(Options("new", dir_.File("old")));
  const auto of_old = old.Predict(Once).All(), of_warm = warm.Predict(Once).All();
  EST_ASSERT_OK(of_warm);
  ASSERT_EQ(of_warm->size(), of_old->size());
  for (size_t i = 0; i < of_old->size(); ++i)
    EXPECT_EQ((*of_warm)[i].at("y").AsDouble(), (*of_old)[i].at("y").AsDouble());
}

TEST_F(WarmStartFromTest, SettingsThatAreWrongAreWhatEveryCallReturns) {
  Estimator<TinyParams> estimator(Options("new", ""));
  EXPECT_THAT(estimator.Train(Endless, Steps(1)),
              ErrorHas("`ckpt_to_initialize_from` MUST be set"));
  EXPECT_THAT(estimator.Evaluate(Once), ErrorHas("`ckpt_to_initialize_from` MUST be set"));
  EXPECT_FALSE(FileExists(dir_.File("new")));
}

// Behaviour D12: the table says what to set.
TEST_F(WarmStartFromTest, AModelOfAnotherSizeIsRefusedWithTheSettingsThatCureIt) {
  auto options = TinyOptions(dir_.File("old"));
  options.params.hidden_units = 5;
  Estimator<TinyParams> bigger(options);
  EXPECT_THAT(
      bigger.Train(Endless, Steps(1)),
      ErrorIs(AllOf(HasSubstr("dense/kernel  "), HasSubstr("f32 [2,5]"), HasSubstr("f32 [2,4]"),
                    HasSubstr("another model_dir, with warm_start_from"))));
  auto warm = Options("new", dir_.File("old"));
  warm.params.hidden_units = 5;
  EXPECT_THAT(
      Estimator<TinyParams>(warm).Train(Endless, Steps(1)),
      ErrorIs(AllOf(HasSubstr("3 of 4 variables differ"), HasSubstr("vars_to_warm_start"))));
}

// The tiny model with `begin` called when it is built, inside scaffold_fn or before the optimizer.
Estimator<TinyParams>::ModelFn Beginning(std::function<void()> begin,
                                         const EstimatorSpecOptions& more = {}) {
  return [=](const Features& features, const Labels& labels, Mode mode, const TinyParams& params) {
    const EstimatorSpec spec = TinyModel(features, labels, mode, params);
    begin();
    if (mode != Mode::kTrain) return spec;
    return EstimatorSpec::Train(spec.spec().loss, spec.spec().train_op, more);
  };
}

TEST_F(WarmStartFromTest, InitFromCheckpointTakesThePlaceOfInitializers) {
  auto options = Options("new");
  options.model_fn = Beginning([this] {
    const auto [map, names] = train::GetAssignmentMapFromCheckpoint(
        Graph::Current().TrainableVariables(), dir_.File("old"));
    EXPECT_EQ(map.size(), 4u);
    train::InitFromCheckpoint(dir_.File("old"), map);
  });
  ExpectBeginsAtOld(options, "new");
  Estimator<TinyParams> old(TinyOptions(dir_.File("old"))), other(Options("none"));
  auto nothing = options;
  nothing.config.model_dir = dir_.File("none");
  Estimator<TinyParams> untrained(nothing);
  EXPECT_EQ((*untrained.Evaluate(Once))["loss"], (*old.Evaluate(Once))["loss"]);
}

// Behaviour D13: the order is initializers, InitFromCheckpoint, warm_start_from, init_fn.
TEST_F(WarmStartFromTest, InitFnSeesTheLoadedValuesAndHasTheLastWord) {
  auto options = Options(
      "new",
      WarmStartSettings{.ckpt_to_initialize_from = dir_.File("old"),
                        .vars_to_warm_start = "dense_1/bias",
                        .var_name_to_prev_var_name = {{"dense_1/bias", "dense_1/bias/Momentum"}}});
  EstimatorSpecOptions more;
  more.scaffold.init_fn = [this](VariableStore& store) {
    ExpectSame(*store.Peek("dense/kernel"), Value("old", "dense/kernel"));
    ExpectSame(*store.Peek("dense_1/bias"), Value("old", "dense_1/bias/Momentum"));
    return store.Set("dense/kernel", Array(DType::kFloat32, {2, 4}));
  };
  options.model_fn = Beginning(
      [this] {
        train::InitFromCheckpoint(
            dir_.File("old"), {{"dense/kernel", "dense/kernel"}, {"dense_1/bias", "dense_1/bias"}});
      },
      more);
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  EXPECT_THAT(log.warnings, Contains("warm_start_from takes precedence over InitFromCheckpoint, "
                                     "which has no effect on 1 of 2 variables, such as "
                                     "dense_1/bias"));
  ExpectSame(Value("new/model.ckpt-0", "dense/kernel"), Array(DType::kFloat32, {2, 4}));
  ExpectSame(Value("new/model.ckpt-0", "dense_1/bias"), Value("old", "dense_1/bias/Momentum"));
}

TEST_F(WarmStartFromTest, AMistakeInInitFromCheckpointIsWhatTrainReturns) {
  auto options = Options("new");
  options.model_fn = Beginning([this] {
    train::InitFromCheckpoint(dir_.File("old"), {{"dense/kernels", "dense/kernel"}});
  });
  EXPECT_THAT(
      Estimator<TinyParams>(options).Train(Endless, Steps(1)),
      ErrorIs(AllOf(HasSubstr("InitFromCheckpoint"), HasSubstr("map it in assignment_map"))));
}

TEST_F(WarmStartFromTest, WhatACheckpointLacksIsAnErrorWithoutARule) {
  EstimatorSpecOptions more;
  const auto with_head = [&more](const Features& features, const Labels& labels, Mode mode,
                                 const TinyParams& params) {
    const EstimatorSpec spec = TinyModel(features, labels, mode, params);
    GetVariable("head/kernel", {2});
    if (mode != Mode::kTrain) return spec;
    return EstimatorSpec::Train(spec.spec().loss, spec.spec().train_op, more);
  };
  auto options = TinyOptions(dir_.File("old"));
  options.model_fn = with_head;
  EXPECT_THAT(Estimator<TinyParams>(options).Train(Endless, Steps(1)),
              ErrorIs(AllOf(HasSubstr("1 of 10 variables differ"), HasSubstr("head/kernel"),
                            HasSubstr("Scaffold::partial_restore"))));
  more.scaffold.partial_restore = {"head"};
  EXPECT_FALSE(Estimator<TinyParams>(options).Train(Endless, Steps(1)).ok()) << "of a whole name";
  more.scaffold.partial_restore = {"head/.*"};
  const Array before = Value("old", "dense/kernel");
  const auto seen = std::make_shared<VariablesRecorder>();
  Estimator<TinyParams> estimator(options);
  const absl::Status trained = estimator.Train(Endless, Steps(1), {.hooks = {seen}});
  EST_ASSERT_OK(trained);
  ExpectSame(seen->values.at("dense/kernel"), before);
  EXPECT_EQ(seen->values.at("global_step").scalar<int64_t>(), 6);
  EXPECT_NE(seen->values.at("head/kernel").AsDouble(), 0);
  more.scaffold.partial_restore = {"("};
  EXPECT_THAT(Estimator<TinyParams>(options).Train(Endless, Steps(1)),
              ErrorHas("Scaffold::partial_restore: '(' is not a regular expression"));
}

// The model's directory has the head, InitFromCheckpoint's checkpoint the body.
TEST_F(WarmStartFromTest, WhatPartialRestoreLetsBeAbsentComesFromInitFromCheckpoint) {
  const Array kernel = Array::Of<float>({2}, {5, 6}), bias = Array::Of<float>({4}, {1, 2, 3, 4});
  const auto writer = BundleWriter::Open(dir_.File("bert.ckpt")).value();
  EST_ASSERT_OK(writer->Add("bert/bias", bias));
  EST_ASSERT_OK(writer->Add("bert/kernel", kernel));
  EST_ASSERT_OK(writer->Finish());
  auto options = TinyOptions(dir_.File("old"));
  options.model_fn = [this](const Features& features, const Labels& labels, Mode mode,
                            const TinyParams& params) {
    const EstimatorSpec spec = TinyModel(features, labels, mode, params);
    GetVariable("bert/kernel", {2});
    GetVariable("bert/new", {2});
    train::InitFromCheckpoint(dir_.File("bert.ckpt"),
                              {{"bert/kernel", "bert/kernel"}, {"bert/bias", "dense/bias"}});
    EstimatorSpecOptions more;
    more.scaffold.partial_restore = {"bert/.*"};
    if (mode != Mode::kTrain) return EstimatorSpec::Eval(spec.spec().loss, {}, more);
    return EstimatorSpec::Train(spec.spec().loss, spec.spec().train_op, more);
  };
  const Array old_bias = Value("old", "dense/bias");
  Estimator<TinyParams> evaluated(options), trained(options);
  const auto in_eval = std::make_shared<VariablesRecorder>(),
             in_train = std::make_shared<VariablesRecorder>();
  const auto result = evaluated.Evaluate(Once, {.hooks = {in_eval}});
  EST_ASSERT_OK(result);
  const absl::Status status = trained.Train(Endless, Steps(1), {.hooks = {in_train}});
  EST_ASSERT_OK(status);
  for (const auto& seen : {in_eval, in_train}) {
    ExpectSame(seen->values.at("bert/kernel"), kernel);
    ExpectSame(seen->values.at("dense/bias"), old_bias);
    EXPECT_NE(seen->values.at("bert/new").AsDouble(), 0);
  }
}

// As tf.train.Checkpoint of TensorFlow 2 writes it: values under paths of objects.
TEST_F(WarmStartFromTest, ACheckpointOfObjectsIsRestoredByTheNamesOfItsVariables) {
  const auto reader = LoadCheckpoint(dir_.File("old")).value();
  const auto writer = BundleWriter::Open(dir_.File("objects")).value();
  proto::TrackableObjectGraph objects;
  for (const std::string& name : reader->names()) {
    auto* const tensor = objects.add_nodes()->add_attributes();
    tensor->set_full_name(name);
    tensor->set_checkpoint_key(
        absl::StrCat("model/", objects.nodes_size(), "/.ATTRIBUTES/VARIABLE_VALUE"));
    EST_ASSERT_OK(writer->Add(tensor->checkpoint_key(), *reader->Read(name)));
  }
  EST_ASSERT_OK(writer->Add(kObjectGraphKey, Array::String(objects.SerializeAsString())));
  EST_ASSERT_OK(writer->Finish());
  Estimator<TinyParams> old(TinyOptions(dir_.File("old"))), other(Options("other"));
  const auto of_objects = other.Evaluate(Once, {.checkpoint_path = dir_.File("objects")});
  EST_ASSERT_OK(of_objects);
  EXPECT_EQ((*of_objects)["loss"], (*old.Evaluate(Once))["loss"]);
  EXPECT_EQ(of_objects->global_step(), 6);
}

// A network with batch norm whose trained averages are what evaluation restores.
class MovingAverageTest : public WarmStartFromTest {
 protected:
  static EstimatorSpec ModelFn(const Features& features, const Labels& labels, Mode mode,
                               const TinyParams&) {
    const bool training = mode == Mode::kTrain;
    const Tensor x =
        layers::BatchNormalization(features["x"], {.momentum = 0.5, .training = training});
    const Tensor y = layers::Dense(x, {.units = 1});
    std::vector<Variable> averaged;
    for (const Variable& variable : Graph::Current().variables()) {
      if (variable.name() != "global_step") averaged.push_back(variable);
    }
    train::ExponentialMovingAverage ema(0.7);
    if (training) {
      const Tensor loss = TinyLoss(labels, y);
      const Operation step = train::GradientDescent(0.1).Minimize(loss);
      return EstimatorSpec::Train(loss, Group({step, ema.Apply(averaged, step)}));
    }
    EstimatorSpecOptions more;
    more.scaffold.restore_names = RestoreNames(ema.VariablesToRestore(averaged));
    if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}}, more);
    return EstimatorSpec::Eval(TinyLoss(labels, y), {}, more);
  }
};

TEST_F(MovingAverageTest, EvaluationRestoresAveragesOfWeightsAndOfBatchNormsStatistics) {
  auto options = Options("ema");
  options.model_fn = ModelFn;
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(6)));
  Estimator<TinyParams> reader(options);
  for (Estimator<TinyParams>* each : {&estimator, &reader}) {  // from memory, from disk
    const auto seen = std::make_shared<VariablesRecorder>();
    const auto result = each->Evaluate(Once, {.hooks = {seen}});
    EST_ASSERT_OK(result);
    for (const char* name :
         {"dense/kernel", "dense/bias", "batch_normalization/gamma", "batch_normalization/beta",
          "batch_normalization/moving_mean", "batch_normalization/moving_variance"}) {
      SCOPED_TRACE(name);
      const Array average = Value("ema", std::string(name) + "/ExponentialMovingAverage");
      ExpectSame(seen->values.at(name), average);
      EXPECT_NE(average.ToString(), Value("ema", name).ToString());
    }
    EXPECT_EQ(seen->values.at("global_step").scalar<int64_t>(), 6);
  }
}

TEST_F(MovingAverageTest, PredictionAndExportHaveTheAveragesInPlaceOfTheWeights) {
  auto options = Options("ema");
  options.model_fn = ModelFn;
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(6)));
  const auto exported = estimator.ExportSavedModel(
      dir_.File("export"), BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}));
  EST_ASSERT_OK(exported);
  const auto variables = ListVariables(*exported);
  EST_ASSERT_OK(variables);
  EXPECT_EQ(variables->size(), 7u) << "two of the layer, four of batch norm, global_step";
  for (const auto& [name, spec] : *variables) {
    if (name == "global_step") continue;
    SCOPED_TRACE(name);
    const Array average = Value("ema", name + "/ExponentialMovingAverage");
    ExpectSame(*LoadVariable(*exported, name), average);
    EXPECT_NE(average.ToString(), Value("ema", name).ToString());
  }
  // What is served is what the estimator predicts.
  const auto predictor = LoadPredictor(*exported);
  EST_ASSERT_OK(predictor);
  const Array x = Array::Of<float>({1, 2}, {0.5f, -1});
  const auto served = (*predictor)->Predict({{"x", x}});
  EST_ASSERT_OK(served);
  const auto input = [&x](const TinyParams&) {
    return Dataset::FromTensors({.features = {{"x", x}}, .labels = {}});
  };
  const auto rows = estimator.Predict(input).All();
  EST_ASSERT_OK(rows);
  EXPECT_NEAR(served->at("y").AsDouble(), (*rows)[0].at("y").AsDouble(), 1e-6);
}

TEST_F(MovingAverageTest, AveragesOfWarmStartedWeightsBeginAtThose) {
  auto options = Options("ema");
  options.model_fn = ModelFn;
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(6)));
  auto next = Options("next", dir_.File("ema"));
  next.model_fn = ModelFn;
  EST_ASSERT_OK(Estimator<TinyParams>(next).Train(Endless, Steps(1)));
  ExpectSame(Value("next/model.ckpt-0", "dense/kernel/ExponentialMovingAverage"),
             Value("ema", "dense/kernel"));
}

// Fixed bug: they began at 0 and 1, and evaluations of the fine-tuned network were wrong.
TEST_F(MovingAverageTest, BatchNormsStatisticsAreWarmStarted) {
  auto options = Options("bn");
  options.model_fn = ModelFn;
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(6)));
  auto next = Options("next", dir_.File("bn"));
  next.model_fn = ModelFn;
  const testing::CapturedLog log;
  EST_ASSERT_OK(Estimator<TinyParams>(next).Train(Endless, Steps(1)));
  for (const char* name : {"moving_mean", "moving_variance"}) {
    const std::string variable = absl::StrCat("batch_normalization/", name);
    ExpectSame(Value("next/model.ckpt-0", variable), Value("bn", variable));
  }
  EXPECT_THAT(log.warnings, ::testing::IsEmpty());
  // The old default.
  next.config.model_dir = dir_.File("trainable");
  next.warm_start_from = WarmStartSettings{
      .ckpt_to_initialize_from = dir_.File("bn"),
      .vars_to_warm_start = VarsToWarmStart::Named(
          {"batch_normalization/gamma", "batch_normalization/beta", "dense/kernel", "dense/bias"})};
  EST_ASSERT_OK(Estimator<TinyParams>(next).Train(Endless, Steps(1)));
  EXPECT_THAT(log.warnings, ::testing::ElementsAre(HasSubstr("2 moving averages of batch norm")));
}

// Fixed bug: nothing was trained, without an error.
TEST_F(WarmStartFromTest, AStepOfTheOldRunThatEndsTheNewOneIsAnError) {
  const std::initializer_list<std::string> all = {".*"};
  const WarmStartSettings settings{.ckpt_to_initialize_from = dir_.File("old"),
                                   .vars_to_warm_start = all};
  Estimator<TinyParams> estimator(Options("new", settings));
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(6)),
              ErrorIs(AllOf(HasSubstr("start at global_step 6"), HasSubstr("max_steps is 6"),
                            HasSubstr("leave global_step out"))));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(7)));
  EXPECT_EQ(*LoadGlobalStep(dir_.File("new")), 7);
}

TEST_F(MovingAverageTest, AMisspelledRestoreNameIsAnError) {
  auto options = TinyOptions(dir_.File("old"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode,
                        const TinyParams& params) {
    EstimatorSpecOptions more;
    more.scaffold.restore_names = {{"dense/kernels", "dense/kernel/Momentum"}};
    return EstimatorSpec::Eval(TinyModel(features, labels, Mode::kEval, params).spec().loss, {},
                               more);
  };
  EXPECT_THAT(Estimator<TinyParams>(options).Evaluate(Once),
              ErrorIs(AllOf(HasSubstr("Scaffold::restore_names"),
                            HasSubstr("did you mean 'dense/kernel'?"))));
}

}  // namespace
}  // namespace estimator
