#include "estimator/export/saved_model/saved_model_writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/export/saved_model/saved_model_show.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/matmul.h"
#include "estimator/proto/saved_model.pb.h"
#include "estimator/proto/variable.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x w, with a local variable beside it.
absl::StatusOr<ExportGraph> Linear(int64_t batch_size) {
  ExportGraph built;
  built.graph = std::make_unique<Graph>();
  const GraphScope scope(*built.graph);
  const InputReceiver receiver =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}})(batch_size);
  const Tensor y = MatMul(receiver.features.at("x"), GetVariable("w", {2, 1}, {}), {}, "y");
  GetVariable("total", {}, {.local = true});
  std::map<std::string, std::string> excluded;
  built.signatures =
      BuildServingSignatures({{"serving_default", PredictOutput({{"y", y}})}}, receiver, excluded);
  return built;
}

class SavedModelWriterTest : public ::testing::Test {
 protected:
  SavedModelWriterTest() {
    const auto model = MakeExportGraphDef(Linear);
    EST_EXPECT_OK(model);
    contents_.meta_graphs = {MakeMetaGraph(*model, {kServingTag})};
    EST_EXPECT_OK(variables_.Set("w", Array::Of<float>({2, 1}, {10, 1})));
    contents_.variables = &variables_;
  }
  const proto::NodeDef& Node(const std::string& name) {
    for (const proto::NodeDef& node : contents_.meta_graphs[0].graph_def().node()) {
      if (node.name() == name) return node;
    }
    static const proto::NodeDef kNone;
    ADD_FAILURE() << "no node " << name;
    return kNone;
  }
  std::vector<std::string> Inputs(const std::string& name) {
    return {Node(name).input().begin(), Node(name).input().end()};
  }

  TempDir dir_;
  VariableStore variables_;
  SavedModelContents contents_;
};

TEST_F(SavedModelWriterTest, GraphsThatProtobufCannotWriteAreAnErrorBeforeAnythingIsWritten) {
  auto* const table = contents_.meta_graphs[0].mutable_graph_def()->add_node();
  table->set_name("table");
  (*table->mutable_attr())["value"].mutable_tensor()->set_tensor_content(std::string(100000, 'x'));
  contents_.max_bytes = 100000;
  const absl::Status status = WriteSavedModel(dir_.File("saved"), contents_);
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("saved_model.pb would have 1"), HasSubstr("at most 100000"),
                     HasSubstr("the largest of its nodes is 'table' with 97.7 KiB"),
                     HasSubstr("tags {serve}"), HasSubstr("Make such a constant a variable"))));
  EXPECT_FALSE(FileExists(dir_.File("saved")));
  contents_.max_bytes = 200000;
  EST_EXPECT_OK(WriteSavedModel(dir_.File("saved"), contents_));
}

TEST_F(SavedModelWriterTest, VariablesAreResources) {
  EXPECT_EQ(Node("w").op(), "VarHandleOp");
  EXPECT_EQ(Node("w").attr().at("shared_name").s(), "w");
  EXPECT_EQ(Node("w").attr().at("shape").shape().dim(0).size(), 2);
  EXPECT_EQ(Node("w/read").op(), "ReadVariableOp");
  EXPECT_EQ(Node("w/Assign").op(), "AssignVariableOp");
  EXPECT_THAT(Inputs("y"), ElementsAre("x", "w/read"));
  proto::VariableDef variable;
  const auto& collections = contents_.meta_graphs[0].collection_def();
  ASSERT_EQ(collections.at("variables").bytes_list().value_size(), 1);
  ASSERT_TRUE(variable.ParseFromString(collections.at("variables").bytes_list().value(0)));
  EXPECT_EQ(variable.variable_name(), "w:0");
  EXPECT_EQ(variable.snapshot_name(), "w/read:0");
  EXPECT_EQ(variable.initializer_name(), "w/Assign");
  EXPECT_TRUE(variable.is_resource());
  EXPECT_TRUE(variable.trainable());
  EXPECT_EQ(collections.at("local_variables").bytes_list().value_size(), 1);
}

TEST_F(SavedModelWriterTest, TheSaverRestoresEveryVariableThatIsNotLocal) {
  const proto::SaverDef& saver = contents_.meta_graphs[0].saver_def();
  EXPECT_EQ(saver.filename_tensor_name(), "save/Const:0");
  EXPECT_EQ(saver.restore_op_name(), "save/restore_all");
  EXPECT_EQ(saver.version(), proto::SaverDef::V2);
  EXPECT_THAT(Inputs("save/restore_all"), ElementsAre("^save/AssignVariableOp_0"));
  EXPECT_THAT(Inputs("save/AssignVariableOp_0"), ElementsAre("w", "save/Identity_0"));
  EXPECT_EQ(Node("save/RestoreV2/tensor_names").attr().at("value").tensor().string_val(0), "w");
  EXPECT_EQ(Node("save/SaveV2").input_size(), 4);
}

TEST_F(SavedModelWriterTest, LocalVariablesAreInitializedWhenTheModelIsLoaded) {
  EXPECT_THAT(Inputs("local_init_op"), ElementsAre("^total/Assign"));
  EXPECT_EQ(
      contents_.meta_graphs[0].collection_def().at("saved_model_main_op").node_list().value(0),
      "local_init_op");
}

TEST_F(SavedModelWriterTest, TheFolderHasTensorFlowsFiles) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("labels.txt"), "zero\none\n"));
  contents_.assets_extra = {{"names/labels.txt", dir_.File("labels.txt")}};
  const std::string dir = dir_.File("model");
  EST_ASSERT_OK(WriteSavedModel(dir, contents_));
  proto::SavedModel model;
  ASSERT_TRUE(model.ParseFromString(*ReadFile(JoinPath(dir, "saved_model.pb"))));
  EXPECT_EQ(model.saved_model_schema_version(), 1);
  EXPECT_THAT(model.meta_graphs(0).meta_info_def().tags(), ElementsAre("serve"));
  const auto reader = BundleReader::Open(JoinPath(dir, "variables/variables"));
  EST_ASSERT_OK(reader);
  EXPECT_THAT((*reader)->Read("w")->values<float>(), ElementsAre(10, 1));
  EXPECT_EQ(*ReadFile(JoinPath(dir, "assets.extra/names/labels.txt")), "zero\none\n");
}

TEST_F(SavedModelWriterTest, TextIsTextFormat) {
  contents_.as_text = true;
  const std::string dir = dir_.File("model");
  EST_ASSERT_OK(WriteSavedModel(dir, contents_));
  EXPECT_FALSE(FileExists(JoinPath(dir, "saved_model.pb")));
  proto::SavedModel model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      *ReadFile(JoinPath(dir, "saved_model.pbtxt")), &model));
  EXPECT_EQ(model.meta_graphs_size(), 1);
  EST_EXPECT_OK(SavedModelShow::Open(dir));
}

TEST_F(SavedModelWriterTest, AnAssetMayNotLeaveItsFolder) {
  contents_.assets_extra = {{"../labels.txt", dir_.File("labels.txt")}};
  EXPECT_THAT(WriteSavedModel(dir_.File("model"), contents_),
              ErrorHas("'../labels.txt' must be a path below assets.extra/"));
}

TEST_F(SavedModelWriterTest, ShowSaysWhatSavedModelCliSays) {
  EST_ASSERT_OK(WriteSavedModel(dir_.path(), contents_));
  const auto show = SavedModelShow::Open(dir_.path());
  EST_ASSERT_OK(show);
  EXPECT_EQ(show->TagSets(), "The given SavedModel contains the following tag-sets:\n'serve'\n");
  EXPECT_THAT(*show->SignatureKeys("serve"), HasSubstr("SignatureDef key: \"serving_default\"\n"));
  EXPECT_EQ(*show->InputsAndOutputs("serve", "serving_default"),
            "The given SavedModel SignatureDef contains the following input(s):\n"
            "  inputs['x'] tensor_info:\n"
            "      dtype: DT_FLOAT\n"
            "      shape: (-1, 2)\n"
            "      name: x:0\n"
            "The given SavedModel SignatureDef contains the following output(s):\n"
            "  outputs['y'] tensor_info:\n"
            "      dtype: DT_FLOAT\n"
            "      shape: (-1, 1)\n"
            "      name: y:0\n"
            "Method name is: tensorflow/serving/predict\n");
  EXPECT_THAT(show->All(), HasSubstr("MetaGraphDef with tag-set: 'serve' contains the following"));
  EXPECT_THAT(*show->Ops("serve"), HasSubstr("'MatMul'"));
  EXPECT_THAT(show->Ops("train"),
              ErrorHas("no graph has the tag-set 'train'; the tag-sets are: 'serve'"));
  EXPECT_THAT(show->InputsAndOutputs("serve", "x"),
              ErrorHas("Please choose from: serving_default"));
}

TEST_F(SavedModelWriterTest, ShowRefusesWhatIsNoSavedModel) {
  EXPECT_THAT(SavedModelShow::Open(dir_.path()), StatusIs(absl::StatusCode::kNotFound));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("saved_model.pb"), "not a proto"));
  EXPECT_THAT(SavedModelShow::Open(dir_.path()), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(TimestampedExportTest, TheNameIsTheTimeAndAppearsWhole) {
  const TempDir dir;
  std::string temporary;
  const auto written =
      WriteTimestampedExport(dir.File("base"),
                             [&](const std::string& path) {
                               temporary = path;
                               EST_EXPECT_OK(CreateDirectories(path));
                               return WriteFileAtomically(JoinPath(path, "file"), "x");
                             },
                             {.now_secs = [] { return int64_t{1700000000}; }});
  EST_ASSERT_OK(written);
  EXPECT_EQ(*written, dir.File("base/1700000000"));
  EXPECT_EQ(temporary, dir.File("base/temp-1700000000"));
  EXPECT_THAT(*ListDirectory(dir.File("base")), ElementsAre("1700000000"));
}

TEST(TimestampedExportTest, ATakenNameMeansTheNextSecond) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("100")));
  int64_t now = 100;
  const auto make = [](const std::string& path) { return CreateDirectories(path); };
  const ExportClock clock = {.now_secs = [&] { return now; }, .wait_a_second = [&] { ++now; }};
  const auto written = WriteTimestampedExport(dir.path(), make, clock);
  EST_ASSERT_OK(written);
  EXPECT_EQ(*written, dir.File("101"));
  // Time that stands still: ten attempts.
  int waits = 0;
  const auto failed = WriteTimestampedExport(
      dir.path(), make,
      {.now_secs = [] { return int64_t{100}; }, .wait_a_second = [&] { ++waits; }});
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(waits, 10);
}

TEST(TimestampedExportTest, OfTwoExportsInOneSecondEachHasItsOwnFolder) {
  const TempDir dir;
  int64_t now = 100;
  const ExportClock clock = {.now_secs = [&] { return now; }, .wait_a_second = [&] { ++now; }};
  const auto write = [](const std::string& text) {
    return [text](const std::string& path) {
      return WriteFileAtomically(JoinPath(path, "file"), text);
    };
  };
  // The other begins before the first has written anything.
  absl::StatusOr<std::string> other = absl::UnknownError("not called");
  const auto first = WriteTimestampedExport(
      dir.path(),
      [&](const std::string& path) {
        other = WriteTimestampedExport(dir.path(), write("other"), clock);
        return write("first")(path);
      },
      clock);
  EST_ASSERT_OK(first);
  EST_ASSERT_OK(other);
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("100", "101"));
  EXPECT_EQ(*ReadFile(JoinPath(*first, "file")), "first");
  EXPECT_EQ(*ReadFile(JoinPath(*other, "file")), "other");
}

TEST(TimestampedExportTest, WhatAnotherExportHasMadeStays) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("temp-100")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("temp-100/file"), "half"));
  EST_ASSERT_OK(CreateDirectories(dir.File("101")));
  int64_t now = 100;
  const auto failed = WriteTimestampedExport(
      dir.path(), [](const std::string&) { return absl::UnavailableError("the disk is full"); },
      {.now_secs = [&] { return now; }, .wait_a_second = [&] { ++now; }});
  EXPECT_THAT(failed, ErrorHas("the disk is full"));
  EXPECT_EQ(now, 102);
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("101", "temp-100"));
  EXPECT_EQ(*ReadFile(dir.File("temp-100/file")), "half");
}

TEST(TimestampedExportTest, AFailedExportLeavesNothing) {
  const TempDir dir;
  const auto written = WriteTimestampedExport(dir.path(),
                                              [](const std::string& path) {
                                                EST_EXPECT_OK(CreateDirectories(path));
                                                return absl::UnavailableError("the disk is full");
                                              },
                                              {.now_secs = [] { return int64_t{100}; }});
  EXPECT_THAT(written, ErrorHas("the disk is full"));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre());
}

}  // namespace
}  // namespace estimator
