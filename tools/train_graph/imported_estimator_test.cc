// An imported model_fn in TPUEstimator: on eight replicas, and exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_replace.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/testing/small_training.h"
#include "estimator/proto/variable.pb.h"
#include "estimator/training/import_model_fn.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = 16;

// x = 0, 0.125, ..., 1.875 and y = 0: replicas have different gradients.
Dataset Rows(const tpu::Params& params) {
  Array x(DType::kFloat32, {kRows, 1});
  for (int64_t i = 0; i < kRows; ++i) x.data<float>()[i] = static_cast<float>(i) / 8;
  return Dataset::FromTensorSlices({.features = x, .labels = Array(DType::kFloat32, {kRows, 1})})
      .Repeat()
      .Batch(params.batch_size, {.drop_remainder = true});
}

class ImportedEstimator : public ::testing::Test {
 protected:
  void SetUp() override {
    EST_ASSERT_OK(WriteFileAtomically(dir_.File("graph.meta"), SmallTraining::Small().Bytes()));
  }
  tpu::TPUEstimator<>::Options Options(const std::string& model, int num_shards) {
    const auto model_fn = ImportModelFn(
        dir_.File("graph.meta"), {.graph = graph_options_, .predictions = {{"y", "MatMul:0"}}});
    EXPECT_TRUE(model_fn.ok()) << model_fn.status();
    tpu::RunConfig config;
    config.model_dir = dir_.File(model);
    if (num_shards > 0) config.tpu_config.num_shards = num_shards;
    return {.model_fn = *model_fn,
            .config = config,
            .use_tpu = num_shards > 0,
            .train_batch_size = kRows,
            .predict_batch_size = kRows};
  }
  float Trained(const tpu::TPUEstimator<>::Options& options) {
    tpu::TPUEstimator<> estimator(options);
    EST_EXPECT_OK(estimator.Train(Rows, Steps(4)));
    return LoadVariable(*estimator.config().model_dir, "w").value().data<float>()[0];
  }
  // Trains another graph on one device; 4 steps.
  float TrainedAs(const SmallTraining& training, const std::string& model) {
    EST_EXPECT_OK(WriteFileAtomically(dir_.File("graph.meta"), training.Bytes()));
    return Trained(Options(model, 0));
  }
  TrainGraphOptions graph_options_;
  TempDir dir_;
};

// The loss is a mean, so the mean of the replicas' gradients is that of the whole batch.
TEST_F(ImportedEstimator, EightReplicasTrainAsOneDoes) {
  const float whole = Trained(Options("local", 0));
  EXPECT_LT(whole, 1.9f);
  EXPECT_NEAR(Trained(Options("eight", 8)), whole, 1e-6);
}

// A Session program runs the optimizer's op alone, or has no global_step at all.
TEST_F(ImportedEstimator, TheLoopCountsStepsThatTheGraphDoesNotCount) {
  const float expected = Trained(Options("counted_by_the_graph", 0));
  SmallTraining training = SmallTraining::Small();
  training.Rewire("train", {"^apply"});
  EXPECT_EQ(TrainedAs(training, "model"), expected);
  EXPECT_EQ(LatestCheckpoint(dir_.File("model")).value(), dir_.File("model/model.ckpt-4"));
  // The variable of the file keeps its meaning: nothing updates it.
  EXPECT_EQ(LoadVariable(dir_.File("model"), "global_step").value().AsDouble(), 0);
  // The step of a resumed run is in the checkpoint's name.
  EXPECT_LT(Trained(Options("model", 0)), expected);
  EXPECT_EQ(LatestCheckpoint(dir_.File("model")).value(), dir_.File("model/model.ckpt-8"));
}

TEST_F(ImportedEstimator, AFloatGlobalStepKeepsItsDtype) {
  const float expected = Trained(Options("int64", 0));
  SmallTraining small = SmallTraining::Small();
  small.Variable("steps", {}, 3, false);
  small.Float("float_one", 1);
  small.Node("count", "AssignAdd", {"steps", "float_one", "^apply"}, SmallTraining::TypeAttr("T"));
  small.Rewire("train", {"^count"});
  // Swaps the names: the float variable is `global_step`.
  for (auto& [name, collection] : *small.meta_graph().mutable_collection_def()) {
    if (!collection.has_bytes_list()) continue;  // the names of train_op
    for (std::string& bytes : *collection.mutable_bytes_list()->mutable_value()) {
      proto::VariableDef def;
      ASSERT_TRUE(def.ParseFromString(bytes));
      const auto renamed = [](const std::string& old) {
        return absl::StrReplaceAll(old, {{"global_step", "other"}, {"steps", "global_step"}});
      };
      def.set_variable_name(renamed(def.variable_name()));
      def.set_initial_value_name(renamed(def.initial_value_name()));
      bytes = def.SerializeAsString();
    }
  }
  for (proto::NodeDef& node : *small.meta_graph().mutable_graph_def()->mutable_node()) {
    const auto rename = [](std::string* old) {
      *old = absl::StrReplaceAll(*old, {{"global_step", "other"}, {"steps", "global_step"}});
    };
    rename(node.mutable_name());
    for (std::string& input : *node.mutable_input()) rename(&input);
  }
  EXPECT_EQ(TrainedAs(small, "model"), expected);
  const Array step = LoadVariable(dir_.File("model"), "global_step").value();
  EXPECT_EQ(step.dtype(), DType::kFloat32);
  EXPECT_EQ(step.AsDouble(), 7);
  EXPECT_EQ(LatestCheckpoint(dir_.File("model")).value(), dir_.File("model/model.ckpt-4"));
}

// Names of a Graph are unique without regard to case, and the loop's counter is `global_step`.
TEST_F(ImportedEstimator, AGlobalStepInCapitalsKeepsItsNameInCheckpoints) {
  const float expected = Trained(Options("lower", 0));
  EST_EXPECT_OK(WriteFileAtomically(
      dir_.File("graph.meta"),
      absl::StrReplaceAll(SmallTraining::Small().Bytes(), {{"global_step", "Global_Step"}})));
  EXPECT_EQ(Trained(Options("model", 0)), expected);
  EXPECT_EQ(LoadVariable(dir_.File("model"), "Global_Step").value().AsDouble(), 4);
  EXPECT_LT(Trained(Options("model", 0)), expected);
  EXPECT_EQ(LoadVariable(dir_.File("model"), "Global_Step").value().AsDouble(), 8);
}

// A partitioner makes one part of a small variable, and checkpoints have it as the whole.
TEST_F(ImportedEstimator, APartThatIsTheWholeHasTheNameOfTheWhole) {
  const float expected = Trained(Options("whole", 0));
  SmallTraining training = SmallTraining::Small();
  for (std::string& bytes : *(*training.meta_graph().mutable_collection_def())["variables"]
                                 .mutable_bytes_list()
                                 ->mutable_value()) {
    proto::VariableDef def;
    ASSERT_TRUE(def.ParseFromString(bytes));
    if (def.variable_name() != "w:0") continue;
    proto::SaveSliceInfoDef& slice = *def.mutable_save_slice_info_def();
    slice.set_full_name("dense/w");
    for (int axis = 0; axis < 2; ++axis) {
      slice.add_full_shape(1);
      slice.add_var_offset(0);
      slice.add_var_shape(1);
    }
    bytes = def.SerializeAsString();
  }
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("graph.meta"), training.Bytes()));
  tpu::TPUEstimator<> estimator(Options("model", 0));
  EST_ASSERT_OK(estimator.Train(Rows, Steps(4)));
  EXPECT_EQ(LoadVariable(dir_.File("model"), "dense/w").value().data<float>()[0], expected);
}

// Fixed bug: each part was refused. A whole w [3,1] of the parts [1,1] and [2,1] trains as one, and
// a checkpoint has the whole, as TensorFlow's.
TEST_F(ImportedEstimator, TrainsThePartsOfAPartitionedVariableAsOne) {
  const float expected = Trained(Options("whole", 0));
  SmallTraining training = SmallTraining::Small();
  training.Variable("v/part_1", {2, 1}, 2, true);
  for (const char* const list : {"variables", "trainable_variables"}) {
    for (std::string& bytes : *(*training.meta_graph().mutable_collection_def())[list]
                                   .mutable_bytes_list()
                                   ->mutable_value()) {
      proto::VariableDef def;
      ASSERT_TRUE(def.ParseFromString(bytes));
      const bool first = def.variable_name() == "w:0";
      if (!first && def.variable_name() != "v/part_1:0") continue;
      proto::SaveSliceInfoDef& slice = *def.mutable_save_slice_info_def();
      slice.set_full_name("v");
      for (const int size : {3, 1}) slice.add_full_shape(size);
      for (const int begin : {first ? 0 : 1, 0}) slice.add_var_offset(begin);
      for (const int size : {first ? 1 : 2, 1}) slice.add_var_shape(size);
      bytes = def.SerializeAsString();
    }
  }
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("graph.meta"), training.Bytes()));
  tpu::TPUEstimator<> estimator(Options("model", 0));
  EST_ASSERT_OK(estimator.Train(Rows, Steps(2)));
  EST_ASSERT_OK(estimator.Train(Rows, Steps(2)));  // from the checkpoint
  const Array whole = LoadVariable(dir_.File("model"), "v").value();
  EXPECT_EQ(whole.shape(), (Shape{3, 1}));
  EXPECT_EQ(whole.data<float>()[0], expected);
  EXPECT_EQ(whole.data<float>()[1], 2) << "nothing trains the second part";
}

TEST_F(ImportedEstimator, AFeedIsNoInput) {
  const float expected = Trained(Options("constant", 0));
  SmallTraining training = SmallTraining::Small();
  training.Node("fed", "Placeholder", {},
                SmallTraining::TypeAttr("dtype") + SmallTraining::ShapeAttr("shape", {}));
  training.Rewire("apply", {"w", "fed", "gradients/MatMul"});
  graph_options_.feeds = {{"fed:0", Array::Scalar(0.1)}};
  EXPECT_EQ(TrainedAs(training, "model"), expected);
  graph_options_.feeds = {{"fed:0", Array::Scalar(true)}};
  const auto wrong = ImportModelFn(dir_.File("graph.meta"), {.graph = graph_options_});
  EXPECT_THAT(wrong.status().message(), HasSubstr("--feed: fed:0 is fed:0: float32"));
}

TEST_F(ImportedEstimator, ExportsItsPredictions) {
  tpu::TPUEstimator<> estimator(Options("model", 8));
  EST_ASSERT_OK(estimator.Train(Rows, Steps(4)));
  const float w = LoadVariable(dir_.File("model"), "w").value().data<float>()[0];
  const auto folder = estimator.ExportSavedModel(
      dir_.File("export"),
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {Shape::kUnknownDim, 1}}}}));
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto predictor = LoadPredictor(*folder);
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  for (const int64_t rows : {1, 3}) {  // of any batch size
    const Array x = Array::Of<float>({3, 1}, {1.f, 2.f, -1.f}).Slice(0, rows);
    const auto result = (*predictor)->Predict({{"x", x}});
    ASSERT_TRUE(result.ok()) << result.status();
    for (int64_t i = 0; i < rows; ++i)
      EXPECT_NEAR(result->at("y").AsDouble(i), w * x.AsDouble(i), 1e-6);
  }
}

// An error of the import has no hint on batch sizes, which would not help.
TEST_F(ImportedEstimator, AFailedExportSaysOnlyItsReason) {
  const auto model_fn = ImportModelFn("testdata/train_graph/tiny/model.ckpt-5.meta",
                                      {.predictions = {{"logits", "dense_1/BiasAdd:0"}}});
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  tpu::RunConfig config;
  config.model_dir = "testdata/train_graph/tiny";
  tpu::TPUEstimator<> estimator({.model_fn = *model_fn, .config = config, .use_tpu = false});
  const absl::Status status =
      estimator
          .ExportSavedModel(
              dir_.File("export"),
              BuildRawServingInputReceiverFn({{"x", {DType::kUint8, {Shape::kUnknownDim, 8, 8}}}}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(status.message(), HasSubstr("fixed to training"));
  EXPECT_THAT(status.message(), Not(HasSubstr("batches of")));
}

}  // namespace
}  // namespace estimator
