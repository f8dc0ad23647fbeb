#include "estimator/export/saved_model/saved_model_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/export/serving/load_predictor.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMnist[] = "testdata/saved_models/mnist/model";

TEST(SavedModelReaderTest, ListsTheSignatures) {
  const auto model = SavedModelReader::Open(kMnist);
  EST_ASSERT_OK(model);
  const auto signature = (*model)->Signature("serving_default");
  EST_ASSERT_OK(signature);
  EXPECT_EQ(signature->method_name, "tensorflow/serving/predict");
  EXPECT_EQ(signature->inputs.at("image").ToString(), "f32 [?,144]");
  EXPECT_EQ(signature->inputs.at("image").tensor_name, "image:0");
  EXPECT_EQ(signature->outputs.at("classes").ToString(), "i64 [?]");
  EXPECT_THAT((*model)->Signature("other"),
              ErrorHas("has no signature 'other'; it has: serving_default"));
}

TEST(SavedModelReaderTest, SaysWhatIsMissingOrBroken) {
  EXPECT_THAT(SavedModelReader::Open("nowhere"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(SavedModelReader::Open(kMnist, {"train"}),
              ErrorHas("no graph has the tags {train}; there is {serve}"));
  const TempDir dir;
  const std::string file = JoinPath(dir.path(), "saved_model.pb");
  EST_ASSERT_OK(WriteFileAtomically(file, "\x08"));
  EXPECT_THAT(SavedModelReader::Open(dir.path()), StatusIs(absl::StatusCode::kDataLoss));
  const auto bytes = ReadFile(JoinPath(kMnist, "saved_model.pb"));
  EST_ASSERT_OK(bytes);
  EST_ASSERT_OK(WriteFileAtomically(file, *bytes));
  EXPECT_THAT(LoadPredictor(dir.path()), ErrorHas("there is no checkpoint beside the graph"));
}

TEST(SavedModelReaderTest, AGraphWithoutSignaturesIsSaidToBeOne) {
  proto::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(*ReadFile("testdata/saved_models/meta_graph/model.ckpt.meta")));
  meta.clear_signature_def();
  const TempDir dir;
  const std::string path = dir.File("model.ckpt-1.meta");
  EST_ASSERT_OK(WriteFileAtomically(path, meta.SerializeAsString()));
  const auto model = SavedModelReader::Open(path);
  EST_ASSERT_OK(model);
  EXPECT_THAT(
      (*model)->Signature("serving_default"),
      ErrorIs(AllOf(
          HasSubstr(
              "has no signatures; the .meta file of a checkpoint contains only the training graph"),
          HasSubstr("in a SavedSignature for LoadPredictor; its placeholders are x:0"),
          Not(HasSubstr("--")))));
}

TEST(SavedModelReaderTest, HoldsInputsAgainstTheSignature) {
  const auto predictor = LoadPredictor(kMnist);
  EST_ASSERT_OK(predictor);
  const absl::Status error = (*predictor)
                                 ->Predict(ArrayMap{{"image", Array(DType::kFloat32, {1, 28})},
                                                    {"images", Array(DType::kInt32, {1})}})
                                 .status();
  EXPECT_THAT(error, ErrorHas("'image' is f32 [1,28], but the signature takes f32 [?,144]"));
  EXPECT_THAT(error, ErrorHas("there is no input 'images'"));
  EXPECT_THAT((*predictor)->Predict(ArrayMap()), ErrorHas("input 'image' is missing"));
}

TEST(SavedModelReaderTest, ComputesTheOutputsThatAreAskedFor) {
  const auto predictor = LoadPredictor(kMnist, {.outputs = {"classes"}});
  EST_ASSERT_OK(predictor);
  const auto outputs = (*predictor)->Predict(ArrayMap{{"image", Array(DType::kFloat32, {2, 144})}});
  EST_ASSERT_OK(outputs);
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->at("classes").shape(), Shape{2});
  EXPECT_THAT(LoadPredictor(kMnist, {.outputs = {"class"}}),
              ErrorHas("has no output 'class'; it has classes, probabilities"));
}

TEST(SavedModelReaderTest, AnExampleThatDoesNotParseIsNamed) {
  const auto predictor = LoadPredictor("testdata/saved_models/parsing/model");
  EST_ASSERT_OK(predictor);
  EXPECT_THAT((*predictor)->Predict(ArrayMap{{"examples", Array::Of<std::string>({1}, {""})}}),
              ErrorHas("example 0"));
  EXPECT_THAT((*predictor)->Predict(ArrayMap{{"examples", Array(DType::kString, {0})}}),
              ErrorHas("no Examples"));
}

TEST(SavedModelReaderTest, AModelWithoutVariablesNeedsNoCheckpoint) {
  proto::SavedModel model;
  proto::MetaGraphDef& meta = *model.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  proto::NodeDef& x = *meta.mutable_graph_def()->add_node();
  x.set_name("x");
  x.set_op("Placeholder");
  (*x.mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  proto::NodeDef& y = *meta.mutable_graph_def()->add_node();
  y.set_name("y");
  y.set_op("Neg");
  y.add_input("x");
  proto::SignatureDef& signature = (*meta.mutable_signature_def())["negate"];
  (*signature.mutable_inputs())["x"].set_name("x:0");
  (*signature.mutable_inputs())["x"].set_dtype(proto::DT_FLOAT);
  (*signature.mutable_outputs())["y"].set_name("y:0");
  const TempDir dir;
  EST_ASSERT_OK(
      WriteFileAtomically(JoinPath(dir.path(), "saved_model.pb"), model.SerializeAsString()));
  // Not even the rank of the input is known before the first request.
  const auto predictor = LoadPredictor(dir.path(), {.signature_key = "negate"});
  EST_ASSERT_OK(predictor);
  EXPECT_EQ((*predictor)->num_programs(), 0);
  const auto outputs = (*predictor)->Predict(ArrayMap{{"x", Array::Of<float>({2}, {1, -2})}});
  EST_ASSERT_OK(outputs);
  EXPECT_THAT(outputs->at("y").values<float>(), ElementsAre(-1, 2));
  EXPECT_THAT((*predictor)->Predict(ArrayMap()), ErrorHas("not fed"));
}

}  // namespace
}  // namespace estimator
