// How Estimator exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/load.h"
#include "estimator/export/saved_model/saved_model_show.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/ops/constant.h"
#include "estimator/training/estimator.h"
#include "estimator/training/testing/tiny_model.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExportTest : public ::testing::Test {
 protected:
  Estimator<TinyParams> Trained(Estimator<TinyParams>::Options options) {
    Estimator<TinyParams> estimator(std::move(options));
    const absl::Status trained = estimator.Train(Input, MaxSteps(10));
    EST_EXPECT_OK(trained);
    return estimator;
  }
  Estimator<TinyParams> Trained() { return Trained(TinyOptions(dir_.File("model"))); }
  // Its predictions have another variable of the checkpoint, of the same size, as the hidden bias.
  Estimator<TinyParams> TrainedWithRestoreNames() {
    auto options = TinyOptions(dir_.File("model"));
    options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                          const TinyParams& params) {
      if (mode != Mode::kPredict) return TinyModel(features, labels, mode, params);
      return EstimatorSpec::Predict(
          {{"y", TinyNetwork(features, false, 0)}},
          {.scaffold = {.restore_names = {{"dense/bias", "dense/bias/Momentum"}}}});
    };
    return Trained(std::move(options));
  }
  static absl::StatusOr<Dataset> Input(const TinyParams&) { return TinyDataset(5).Repeat(); }

  std::string Show(const std::string& dir) {
    const auto show = SavedModelShow::Open(dir);
    EST_EXPECT_OK(show);
    return show.ok() ? show->All() : "";
  }
  std::string Base() const { return dir_.File("export"); }

  TempDir dir_;
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  const ServingInputReceiverFn supervised_ = BuildRawSupervisedInputReceiverFn(
      {{"x", {DType::kFloat32, {-1, 2}}}}, {{"", {DType::kFloat32, {-1, 1}}}});
};

// Behaviour G1.
TEST_F(ExportTest, TheTimestampedFolderHasTheGraphAndTheVariables) {
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(Base(), raw_);
  EST_ASSERT_OK(dir);
  EXPECT_EQ(Dirname(*dir), Base());
  EXPECT_EQ(Basename(*dir).size(), 10u);
  EXPECT_THAT(*ListDirectory(*dir), ElementsAre("saved_model.pb", "variables"));
  EXPECT_THAT(*ListDirectory(JoinPath(*dir, "variables")),
              ElementsAre("variables.data-00000-of-00001", "variables.index"));
  // The inference graph's variables with the checkpoint's values; no optimizer slots.
  const std::string variables = JoinPath(*dir, "variables/variables");
  const auto names = ListVariables(variables);
  EST_ASSERT_OK(names);
  EXPECT_EQ(names->size(), 5u);
  EXPECT_EQ(LoadVariable(variables, "dense/kernel")->ToString(),
            estimator.GetVariableValue("dense/kernel")->ToString());
  EXPECT_EQ(LoadVariable(variables, "global_step")->scalar<int64_t>(), 10);
}

// Behaviour G2.
TEST_F(ExportTest, EveryModeHasItsTagAndItsSignature) {
  auto estimator = Trained();
  const auto dir = estimator.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kTrain, supervised_}, {Mode::kEval, supervised_}, {Mode::kPredict, raw_}});
  EST_ASSERT_OK(dir);
  const auto show = SavedModelShow::Open(*dir);
  EST_ASSERT_OK(show);
  EXPECT_EQ(show->TagSets(),
            "The given SavedModel contains the following tag-sets:\n'eval'\n'serve'\n'train'\n");
  EXPECT_THAT(*show->SignatureKeys("train"), HasSubstr("\"train\""));
  const std::string eval = *show->InputsAndOutputs("eval", "eval");
  for (const std::string part :
       {"inputs['x']", "inputs['label']", "outputs['loss']", "outputs['metrics/mae/value']",
        "outputs['metrics/mae/update_op']", "tensorflow/supervised/eval"})
    EXPECT_THAT(eval, HasSubstr(part));
  EXPECT_THAT(*show->InputsAndOutputs("train", "train"),
              HasSubstr("tensorflow/supervised/training"));
  EXPECT_THAT(*show->Ops("train"), HasSubstr("'ApplyMomentum'"));
  EXPECT_THAT(*show->Ops("serve"), Not(HasSubstr("'ApplyMomentum'")));
  // The slots of the training graph are saved as well.
  EST_EXPECT_OK(LoadVariable(JoinPath(*dir, "variables/variables"), "dense/kernel/Momentum"));
}

// Behaviour G2.
TEST_F(ExportTest, OneModeAlone) {
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(Base(), supervised_, {.mode = Mode::kEval});
  EST_ASSERT_OK(dir);
  EXPECT_THAT(SavedModelShow::Open(*dir)->TagSets(), HasSubstr("tag-sets:\n'eval'\n"));
  EXPECT_THAT(estimator.ExportSavedModel(Base(), raw_, {.mode = Mode::kTrain}),
              ErrorHas("exporting mode train: exporting mode train needs labels"));
}

// Behaviour G3.
TEST_F(ExportTest, AVariableThatOnlyPredictionHasIsNamedWithItsMode) {
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    if (mode == Mode::kPredict) GetVariable("extra", {2}, {});
    return TinyModel(features, labels, mode, params);
  };
  auto estimator = Trained(std::move(options));
  const auto dir = estimator.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kEval, supervised_}, {Mode::kPredict, raw_}});
  EXPECT_THAT(dir, ErrorHas("exporting mode predict"));
  EXPECT_THAT(dir, ErrorHas("extra"));
  EXPECT_FALSE(FileExists(Base()));
}

// Behaviour G4.
TEST_F(ExportTest, AssetsStandInTheirFolderAndInTheGraph) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("words.txt"), "a\n"));
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(
      Base(), raw_, {.assets = {dir_.File("words.txt")}, .as_text = true});
  EST_ASSERT_OK(dir);
  EXPECT_EQ(*ReadFile(JoinPath(*dir, "assets/words.txt")), "a\n");
  const std::string graph = *ReadFile(JoinPath(*dir, "saved_model.pbtxt"));
  EXPECT_THAT(graph, HasSubstr("filename: \"words.txt\""));
  EXPECT_THAT(graph, HasSubstr("name: \"asset_path:0\""));
  EST_ASSERT_OK(CreateDirectories(dir_.File("other")));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("other/words.txt"), "b\n"));
  const auto both = estimator.ExportSavedModel(
      dir_.File("both"), raw_, {.assets = {dir_.File("words.txt"), dir_.File("other/words.txt")}});
  EST_ASSERT_OK(both);
  EXPECT_EQ(*ReadFile(JoinPath(*both, "assets/words.txt")), "a\n");
  EXPECT_EQ(*ReadFile(JoinPath(*both, "assets/words.txt_1")), "b\n");
}

// Behaviour G4.
TEST_F(ExportTest, ExtraAssetsAndText) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("words.txt"), "a\n"));
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(
      Base(), raw_,
      {.assets_extra = {{"some/sub/words.txt", dir_.File("words.txt")}}, .as_text = true});
  EST_ASSERT_OK(dir);
  EXPECT_EQ(*ReadFile(JoinPath(*dir, "assets.extra/some/sub/words.txt")), "a\n");
  EXPECT_TRUE(FileExists(JoinPath(*dir, "saved_model.pbtxt")));
}

// Behaviour G5.
TEST_F(ExportTest, WithoutExportOutputsThePredictionsAreServed) {
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(Base(), raw_);
  EST_ASSERT_OK(dir);
  const auto show = SavedModelShow::Open(*dir);
  EXPECT_EQ(*show->SignatureKeys("serve"),
            "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n"
            "SignatureDef key: \"serving_default\"\n");
  const std::string signature = *show->InputsAndOutputs("serve", "serving_default");
  for (const std::string part : {"outputs['twice']", "outputs['y']", "shape: (-1, 1)"})
    EXPECT_THAT(signature, HasSubstr(part));
}

// Behaviour G6. Training would begin at step 0 and with batch norm's first statistics; what is
// served is the model that the checkpoint is of.
TEST_F(ExportTest, AWarmStartedEstimatorExportsTheWholeCheckpointThatItWouldStartFrom) {
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    const Tensor x = layers::BatchNormalization(
        features["x"], {.momentum = 0.5, .training = mode == Mode::kTrain});
    return TinyModel(Features(x.graph(), "features", {{"x", x}}), labels, mode, params);
  };
  auto trained = Trained(options);
  options.config.model_dir = dir_.File("other");
  options.warm_start_from = dir_.File("model");
  Estimator<TinyParams> warm(options);
  const auto dir = warm.ExportSavedModel(Base(), raw_);
  EST_ASSERT_OK(dir);
  const std::string variables = JoinPath(*dir, "variables/variables");
  for (const std::string name : {"dense/kernel", "batch_normalization/moving_mean",
                                 "batch_normalization/moving_variance", "global_step"}) {
    EXPECT_EQ(LoadVariable(variables, name)->ToString(), trained.GetVariableValue(name)->ToString())
        << name;
  }
  EXPECT_EQ(LoadVariable(variables, "global_step")->scalar<int64_t>(), 10);
  EXPECT_EQ((*(*warm.MakePredictor(raw_))->Predict(TinyExamples(7).features))["y"].ToString(),
            (*(*trained.MakePredictor(raw_))->Predict(TinyExamples(7).features))["y"].ToString());
  const Array variance = *trained.GetVariableValue("batch_normalization/moving_variance");
  EXPECT_THAT(warm.WriteFrozenGraph(dir_.File("warm.pb"), raw_)->graph_def,
              HasSubstr(std::string(static_cast<const char*>(variance.raw()), 8)));
}

TEST_F(ExportTest, AWarmStartThatLacksAVariableIsAnErrorWithItsCure) {
  Trained();
  auto options = TinyOptions(dir_.File("other"));
  options.warm_start_from = dir_.File("model");
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    GetVariable("head", {2});
    return TinyModel(features, labels, mode, params);
  };
  Estimator<TinyParams> warm(options);
  EXPECT_THAT(
      warm.ExportSavedModel(Base(), raw_),
      ErrorIs(AllOf(HasSubstr("warm_start_from"), HasSubstr("train first"), HasSubstr("head"))));
}

// Behaviour G7.
TEST_F(ExportTest, ABareTensorReachesAModelThatTakesOne) {
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    const Tensor x = mode == Mode::kPredict ? Tensor(features) : features["x"];
    return TinyModel(Features(x.graph(), "features", {{"x", x}}), labels, mode, params);
  };
  auto estimator = Trained(std::move(options));
  const auto dir = estimator.ExportSavedModel(Base(), [](int64_t batch_size) {
    const Tensor x = Placeholder(DType::kFloat32, {batch_size, 2}, "x");
    return TensorServingInputReceiver(x, x);
  });
  EST_ASSERT_OK(dir);
  EXPECT_THAT(Show(*dir), HasSubstr("inputs['input']"));
}

// Behaviour G8, of what is here: a Scaffold has names to restore from, no saver of its own.
TEST_F(ExportTest, RestoreNamesOfTheScaffoldAreUsed) {
  auto estimator = TrainedWithRestoreNames();
  const auto dir = estimator.ExportSavedModel(Base(), raw_);
  EST_ASSERT_OK(dir);
  EXPECT_EQ(LoadVariable(JoinPath(*dir, "variables/variables"), "dense/bias")->ToString(),
            estimator.GetVariableValue("dense/bias/Momentum")->ToString());
}

TEST_F(ExportTest, ModesThatRestoreAVariableFromDifferentNamesAreNotExportedTogether) {
  auto estimator = TrainedWithRestoreNames();
  const auto dir = estimator.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kTrain, supervised_}, {Mode::kPredict, raw_}});
  EXPECT_THAT(dir, StatusIs(absl::StatusCode::kInvalidArgument,
                            AllOf(HasSubstr("'dense/bias'"), HasSubstr("mode train"),
                                  HasSubstr("mode predict"), HasSubstr("export predict alone"))));
  EXPECT_FALSE(FileExists(Base()));
}

// The tiny model, whose PREDICT graph has a variable that the EVAL graph lacks.
Estimator<TinyParams>::ModelFn WithSlotInPredict(std::function<void()> when_predict_is_built) {
  return [=](const Features& features, const Labels& labels, Mode mode, const TinyParams& params) {
    const EstimatorSpec spec = TinyModel(features, labels, mode, params);
    if (mode == Mode::kPredict) {
      when_predict_is_built();
      GetVariable("dense/bias/Momentum", {4}, {.trainable = false});
    }
    return spec;
  };
}

TEST_F(ExportTest, AllModesAreOfOneCheckpointWhileATrainerSaves) {
  Estimator<TinyParams> trainer = Trained();
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = WithSlotInPredict([&] { EST_ASSERT_OK(trainer.Train(Input, Steps(1))); });
  Estimator<TinyParams> exporter(std::move(options));
  const auto dir = exporter.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kEval, supervised_}, {Mode::kPredict, raw_}});
  EST_ASSERT_OK(dir);
  const std::string variables = JoinPath(*dir, "variables/variables");
  const std::string checkpoint = dir_.File(
      absl::StrCat("model/model.ckpt-", LoadVariable(variables, "global_step")->scalar<int64_t>()));
  for (const std::string name : {"dense/bias", "dense/bias/Momentum"}) {
    EXPECT_EQ(LoadVariable(variables, name)->ToString(), LoadVariable(checkpoint, name)->ToString())
        << name;
  }
}

TEST_F(ExportTest, DamageThatTheSecondModeFindsTakesAllModesToTheCheckpointBefore) {
  Trained();
  const std::string path = DataPath(dir_.File("model/model.ckpt-10"), 0, 1);
  std::string bytes = *ReadFile(path);
  bytes[20] = static_cast<char>(bytes[20] ^ 0x10);  // dense/bias: 16 bytes, then its slot
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = WithSlotInPredict([] {});
  Estimator<TinyParams> exporter(std::move(options));
  EST_ASSERT_OK(exporter.ExportSavedModel(Base(), supervised_, {.mode = Mode::kEval}));
  const auto dir = exporter.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kEval, supervised_}, {Mode::kPredict, raw_}});
  EST_ASSERT_OK(dir);
  const std::string variables = JoinPath(*dir, "variables/variables");
  for (const std::string name : {"dense/bias", "dense/bias/Momentum", "global_step"}) {
    EXPECT_EQ(LoadVariable(variables, name)->ToString(),
              LoadVariable(dir_.File("model/model.ckpt-5"), name)->ToString())
        << name;
  }
}

TEST_F(ExportTest, TotalsOfMetricsAreNotSavedAsVariablesOfTheModel) {
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    const EstimatorSpec spec = TinyModel(features, labels, mode, params);
    if (mode != Mode::kEval) return spec;
    GetVariable("head", {2});
    // First values, of the totals too, are computed for what the checkpoint lacks.
    return EstimatorSpec::Eval(spec.spec().loss, spec.spec().eval_metric_ops,
                               {.scaffold = {.partial_restore = {"head"}}});
  };
  auto estimator = Trained(std::move(options));
  const auto dir = estimator.ExportSavedModel(Base(), supervised_, {.mode = Mode::kEval});
  EST_ASSERT_OK(dir);
  const auto saved = ListVariables(JoinPath(*dir, "variables/variables"));
  EST_ASSERT_OK(saved);
  std::vector<std::string> names;
  for (const auto& [name, spec] : *saved) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("dense/bias", "dense/kernel", "dense_1/bias", "dense_1/kernel",
                                 "global_step", "head"));
}

TEST_F(ExportTest, DropoutIsNotInTheServedGraph) {
  auto options = TinyOptions(dir_.File("model"));
  options.params.dropout = 0.5;
  auto estimator = Trained(std::move(options));
  const auto dir = estimator.ExperimentalExportAllSavedModels(
      Base(), {{Mode::kTrain, supervised_}, {Mode::kPredict, raw_}});
  EST_ASSERT_OK(dir);
  const auto show = SavedModelShow::Open(*dir);
  EXPECT_THAT(*show->Ops("train"), HasSubstr("'GreaterEqual'"));
  EXPECT_THAT(*show->Ops("serve"), Not(HasSubstr("'GreaterEqual'")));
}

TEST_F(ExportTest, WithoutACheckpointOrAReceiverNothingIsWritten) {
  Estimator<TinyParams> fresh(TinyOptions(dir_.File("nothing")));
  const auto dir = fresh.ExportSavedModel(Base(), raw_);
  EXPECT_THAT(dir,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("Couldn't find trained model at")));
  EXPECT_THAT(fresh.ExportSavedModel(Base(), nullptr),
              ErrorHas("the input receiver of mode predict must be given"));
  EXPECT_THAT(fresh.ExperimentalExportAllSavedModels(Base(), {}), ErrorHas("No valid modes"));
  EXPECT_FALSE(FileExists(Base()));
}

TEST_F(ExportTest, AnExplicitCheckpointIsExported) {
  auto estimator = Trained();
  const auto dir = estimator.ExportSavedModel(Base(), raw_,
                                              {.checkpoint_path = dir_.File("model/model.ckpt-5")});
  EST_ASSERT_OK(dir);
  EXPECT_EQ(LoadVariable(JoinPath(*dir, "variables/variables"), "global_step")->scalar<int64_t>(),
            5);
  EXPECT_THAT(estimator.ExportSavedModel(Base(), raw_, {.checkpoint_path = "none"}),
              ErrorHas("checkpoint_path"));
}

TEST_F(ExportTest, WrongExportOutputsAreAnErrorOfTheSpec) {
  auto options = TinyOptions(dir_.File("model"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    if (mode != Mode::kPredict) return TinyModel(features, labels, mode, params);
    const Tensor y = TinyNetwork(features, false, 0);
    return EstimatorSpec::Predict(
        {{"y", y}}, {.export_outputs = {{"a", PredictOutput(y)}, {"b", PredictOutput(y)}}});
  };
  auto estimator = Trained(std::move(options));
  EXPECT_THAT(estimator.ExportSavedModel(Base(), raw_), ErrorHas("none of them is the default"));
}

}  // namespace
}  // namespace estimator
