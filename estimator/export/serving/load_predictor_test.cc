// What is exported here is read here and predicts the same.
#include "estimator/export/serving/load_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/export/saved_model/saved_model_writer.h"
#include "estimator/export/testing/create_predictor.h"
#include "estimator/export/testing/string_classes.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/check_numerics.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using testing::BuildStringClasses;
using testing::CreatePredictor;
using ::testing::ElementsAre;

Array Numbers(const Shape& shape) {
  Array numbers(DType::kFloat32, shape);
  for (int64_t i = 0; i < numbers.num_elements(); ++i)
    numbers.data<float>()[i] = static_cast<float>((i * 37) % 11) - 5;
  return numbers;
}

// A graph whose sizes follow the batch in several ways.
ExportGraphFn Network(ServingInputReceiverFn receiver_fn) {
  return [=](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = receiver_fn(batch_size);
    const Tensor x = receiver.features.at("x");  // f32 [batch, 2, 3]
    const auto zeros = [](const Shape& shape, DType dtype) { return Zeros(shape, dtype); };
    const Tensor w = GetVariable("w", {6, 4}, {.initializer = zeros});
    const Tensor b = GetVariable("b", {4}, {.initializer = zeros});
    const Tensor hidden = Relu(MatMul(Reshape(x, {x.dim(0), 6}), w) + b);
    const Tensor both = Concat({hidden, Ones({x.dim(0), 1})}, 1);
    const Tensor rows = Cast(Range(x.dim(0)), DType::kFloat32);
    const Tensor y = ReduceSum(Tile(both, {1, 2}), {1}) + rows;
    std::map<std::string, std::string> excluded;
    built.signatures =
        BuildServingSignatures({{"serving_default", PredictOutput({{"hidden", hidden}, {"y", y}})},
                                {"regress", RegressionOutput(y)}},
                               receiver, excluded);
    built.parsing = receiver.parsing;
    return built;
  };
}

class LoadPredictorTest : public ::testing::Test {
 protected:
  LoadPredictorTest() {
    EST_EXPECT_OK(variables_->Set("w", Numbers({6, 4})));
    EST_EXPECT_OK(variables_->Set("b", Numbers({4})));
  }
  std::string Export(const ExportGraphFn& build, bool as_text = false) {
    const auto model = MakeExportGraphDef(build);
    EST_EXPECT_OK(model);
    EXPECT_THAT(model->obstacles, ElementsAre());
    const absl::Status written =
        WriteSavedModel(dir_.File("model"), {.meta_graphs = {MakeMetaGraph(*model, {kServingTag})},
                                             .variables = variables_.get(),
                                             .as_text = as_text});
    EST_EXPECT_OK(written);
    return dir_.File("model");
  }
  static void ExpectSame(const ArrayMap& actual, const ArrayMap& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [name, value] : expected) {
      const Difference difference = Compare(actual.at(name), value, {.relative = 1e-6});
      EXPECT_TRUE(difference.equal) << name << ": " << difference.report;
    }
  }

  TempDir dir_;
  std::shared_ptr<VariableStore> variables_ = std::make_shared<VariableStore>();
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2, 3}}}});
};

TEST_F(LoadPredictorTest, AnExportedModelPredictsWhatItsGraphPredictsAtAnyBatchSize) {
  const std::string dir = Export(Network(raw_));
  const auto loaded = LoadPredictor(dir);
  EST_ASSERT_OK(loaded);
  EST_ASSERT_OK(RemoveDirectoryRecursively(dir));  // it is read once
  EXPECT_EQ((*loaded)->inputs().at("x").ToString(), "f32 [?,2,3]");
  const auto direct = CreatePredictor(Network(raw_), variables_);
  EST_ASSERT_OK(direct);
  for (const int64_t rows : {1, 2, 7}) {
    const ArrayMap inputs{{"x", Numbers({rows, 2, 3})}};
    const auto actual = (*loaded)->Predict(inputs), expected = (*direct)->Predict(inputs);
    EST_ASSERT_OK(actual);
    EST_ASSERT_OK(expected);
    ExpectSame(*actual, *expected);
  }
}

TEST_F(LoadPredictorTest, AModelThatIsWrittenAsTextIsReadBack) {
  const auto loaded = LoadPredictor(Export(Network(raw_), true));
  EST_ASSERT_OK(loaded);
  ASSERT_TRUE(FileExists(dir_.File("model/saved_model.pbtxt")));
  const auto direct = CreatePredictor(Network(raw_), variables_);
  EST_ASSERT_OK(direct);
  const ArrayMap inputs{{"x", Numbers({3, 2, 3})}};
  const auto actual = (*loaded)->Predict(inputs), expected = (*direct)->Predict(inputs);
  EST_ASSERT_OK(actual);
  EST_ASSERT_OK(expected);
  ExpectSame(*actual, *expected);
}

TEST_F(LoadPredictorTest, AParsingReceiverIsReadBack) {
  const ServingInputReceiverFn parsing =
      BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {2, 3}}}});
  const auto loaded = LoadPredictor(Export(Network(parsing)), {.signature_key = "regress"});
  EST_ASSERT_OK(loaded);
  Array examples(DType::kString, {3});
  for (std::string& example : examples.values<std::string>())
    example = ExampleBuilder().Floats("x", {1, 2, 3, 4, 5, 6}).Serialize();
  const auto direct = CreatePredictor(Network(parsing), variables_, "regress");
  EST_ASSERT_OK(direct);
  const auto actual = (*loaded)->Predict(ArrayMap{{"inputs", examples}});
  const auto expected = (*direct)->Predict(ArrayMap{{"inputs", examples}});
  EST_ASSERT_OK(actual);
  EST_ASSERT_OK(expected);
  ExpectSame(*actual, *expected);
}

// Rows of 3 numbers, and their weights, of variable length.
ExportGraphFn SequenceNetwork() {
  return [](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = BuildParsingServingInputReceiverFn(
        {{"bias", FixedLenFeature{}},
         {"ids", VarLenFeature{.dtype = DType::kInt32, .max_length = 4, .default_value = -1}},
         {"tags", VarLenFeature{.dtype = DType::kString, .max_length = 2}},
         {"unused", VarLenFeature{.max_length = 1}},
         {"x", FixedLenSequenceFeature{.shape = {3}, .max_length = 2, .default_value = 0.5}}})(
        batch_size);
    EST_RETURN_IF_ERROR(receiver.status);
    const NamedTensors& features = receiver.features;
    const Tensor x = features.at("x") + Reshape(features.at("bias"), {batch_size, 1, 1});
    std::map<std::string, std::string> excluded;
    built.signatures = BuildServingSignatures(
        {{"serving_default", PredictOutput({{"ids", features.at("ids") + 0},
                                            {"num_ids", features.at("ids_length") * 10},
                                            {"tags", features.at("tags")},
                                            {"x", x}})}},
        receiver, excluded);
    built.parsing = receiver.parsing;
    return built;
  };
}

TEST_F(LoadPredictorTest, FeaturesOfVariableLengthAreReadBack) {
  const auto loaded = LoadPredictor(Export(SequenceNetwork()));
  EST_ASSERT_OK(loaded);
  const auto direct = CreatePredictor(SequenceNetwork(), variables_);
  EST_ASSERT_OK(direct);
  const Array examples = Array::Of<std::string>(
      {3},
      {ExampleBuilder()
           .Floats("bias", {1})
           .Floats("x", {1, 2, 3, 4, 5, 6})
           .Ints("ids", {7, 8, 9, 10})
           .Bytes("tags", {"a"})
           .Serialize(),
       ExampleBuilder().Floats("bias", {2}).Floats("x", {7, 8, 9}).Ints("ids", {5}).Serialize(),
       ExampleBuilder().Floats("bias", {0}).Serialize()});
  for (const auto& predictor : {loaded->get(), direct->get()}) {
    const auto outputs = predictor->Predict(ArrayMap{{"examples", examples}});
    EST_ASSERT_OK(outputs);
    EXPECT_THAT(outputs->at("ids").values<int32_t>(),
                ElementsAre(7, 8, 9, 10, 5, -1, -1, -1, -1, -1, -1, -1));
    EXPECT_THAT(outputs->at("num_ids").values<int32_t>(), ElementsAre(40, 10, 0));
    EXPECT_THAT(outputs->at("tags").values<std::string>(), ElementsAre("a", "", "", "", "", ""));
    EXPECT_THAT(outputs->at("x").values<float>(),
                ElementsAre(2, 3, 4, 5, 6, 7, 9, 10, 11, 2.5f, 2.5f, 2.5f, 0.5f, 0.5f, 0.5f, 0.5f,
                            0.5f, 0.5f));
  }
  const Array too_long = Array::Of<std::string>(
      {1}, {ExampleBuilder().Floats("bias", {1}).Ints("ids", {1, 2, 3, 4, 5}).Serialize()});
  EXPECT_THAT((*loaded)->Predict(ArrayMap{{"examples", too_long}}),
              ErrorHas("Key: ids.  It has 5 rows, but max_length is 4"));
}

TEST_F(LoadPredictorTest, ThreadsAreServedExamplesOfAnyNumberInMemoryThatStaysFlat) {
  const ServingInputReceiverFn parsing =
      BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {2, 3}}}});
  const auto loaded = LoadPredictor(
      Export(Network(parsing)),
      {.signature_key = "regress", .predictor = {.max_programs = 2, .num_sessions = 2}});
  EST_ASSERT_OK(loaded);
  const auto serve = [&loaded](int64_t rows) -> std::vector<float> {
    Array examples(DType::kString, {rows});
    for (std::string& example : examples.values<std::string>())
      example = ExampleBuilder().Floats("x", {1, 2, 3, 4, 5, 6}).Serialize();
    const auto outputs = (*loaded)->Predict(ArrayMap{{"inputs", examples}});
    if (!outputs.ok()) return {};
    const Array& y = outputs->at("outputs");
    return {y.values<float>().begin(), y.values<float>().end()};
  };
  std::vector<std::vector<float>> expected;
  for (int64_t rows = 1; rows <= 3; ++rows) expected.push_back(serve(rows));
  ASSERT_EQ(expected[2].size(), 3u);
  // How many of the requests of each of four threads, of 1 to `sizes` rows, got a wrong answer.
  const auto wrong = [&](int requests, int sizes) {
    std::vector<std::thread> threads;
    std::vector<int> counts(4, 0);
    for (int& count : counts) {
      threads.emplace_back([&] {
        for (int i = 0; i < requests; ++i)
          if (serve(1 + i % sizes) != expected[static_cast<size_t>(i % sizes)]) ++count;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return counts;
  };
  EXPECT_THAT(wrong(60, 3), ElementsAre(0, 0, 0, 0));  // a program more than are kept
  EXPECT_THAT(wrong(500, 2), ElementsAre(0, 0, 0, 0));
  const int64_t before = ResidentBytes();
  EXPECT_THAT(wrong(2500, 2), ElementsAre(0, 0, 0, 0));
  testing::ExpectGrowthBelow(ResidentBytes() - before, 4 << 20);  // over 10,000 requests
}

// A graph of TensorFlow's says any number of rows, and may take one of them.
TEST_F(LoadPredictorTest, AModelThatTakesOneNumberOfRowsIsTriedWithIt) {
  const auto model = MakeExportGraphDef(
      Network(BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2, 3}}}}, 5)));
  EST_ASSERT_OK(model);
  proto::MetaGraphDef graph = MakeMetaGraph(*model, {kServingTag});
  for (auto& [name, input] :
       *graph.mutable_signature_def()->at(kDefaultServingSignatureKey).mutable_inputs()) {
    input.mutable_tensor_shape()->mutable_dim(0)->set_size(-1);
  }
  for (proto::NodeDef& node : *graph.mutable_graph_def()->mutable_node()) {
    if (node.op() != "Placeholder") continue;
    (*node.mutable_attr())["shape"].mutable_shape()->mutable_dim(0)->set_size(-1);
  }
  const std::string dir = dir_.File("five");
  EST_ASSERT_OK(WriteSavedModel(dir, {.meta_graphs = {graph}, .variables = variables_.get()}));
  EXPECT_FALSE(LoadPredictor(dir).ok());
  EXPECT_THAT(LoadPredictor(dir, {.batch_size = -1}), StatusIs(absl::StatusCode::kInvalidArgument));
  const auto told = LoadPredictor(dir, {.batch_size = 5});
  EST_ASSERT_OK(told);
  EST_EXPECT_OK((*told)->Predict(ArrayMap{{"x", Numbers({5, 2, 3})}}));
}

TEST_F(LoadPredictorTest, ClassesThatAreStringsAreReadBack) {
  const auto loaded = LoadPredictor(Export(BuildStringClasses));
  EST_ASSERT_OK(loaded);
  Array examples(DType::kString, {2});
  for (std::string& example : examples.values<std::string>())
    example = ExampleBuilder().Floats("x", {1, 2, 3}).Serialize();
  const auto outputs = (*loaded)->Predict(ArrayMap{{"inputs", examples}});
  EST_ASSERT_OK(outputs);
  EXPECT_THAT(outputs->at("classes").values<std::string>(),
              ElementsAre("cat", "dog", "cow", "cat", "dog", "cow"));
}

TEST_F(LoadPredictorTest, AFailedCheckOfNumbersIsNamed) {
  const auto build = [this](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = raw_(batch_size);
    const Tensor x = CheckNumerics(Exp(receiver.features.at("x")), "of_the_head", "head/check");
    std::map<std::string, std::string> excluded;
    built.signatures = BuildServingSignatures(
        {{"serving_default", PredictOutput({{"y", ReduceSum(x)}})}}, receiver, excluded);
    return built;
  };
  const auto loaded = LoadPredictor(Export(build));
  EST_ASSERT_OK(loaded);
  Array x = Numbers({2, 2, 3});
  EST_EXPECT_OK((*loaded)->Predict(ArrayMap{{"x", x}}));
  x.data<float>()[3] = 1000;  // its exponential is infinite
  EXPECT_THAT((*loaded)->Predict(ArrayMap{{"x", x}}),
              ErrorHas("head/check: of_the_head : Tensor had Inf values"));
}

TEST_F(LoadPredictorTest, WhatIsNotThereIsNamed) {
  const std::string dir = Export(Network(raw_));
  EXPECT_THAT(LoadPredictor(dir, {.signature_key = "other"}), ErrorHas("has no signature 'other'"));
  EXPECT_THAT(LoadPredictor(dir, {.tags = {"train"}}), ErrorHas("no graph has the tags {train}"));
  EXPECT_THAT(LoadPredictor(dir_.File("nothing")), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace estimator
