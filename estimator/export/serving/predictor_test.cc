#include "estimator/export/serving/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/export/testing/create_predictor.h"
#include "estimator/export/testing/string_classes.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using testing::BuildStringClasses;
using testing::CreatePredictor;
using ::testing::ElementsAre;

// y = x w, with x: f32 [batch, 2] and w: f32 [2, 1].
ExportGraphFn Linear(ServingInputReceiverFn receiver_fn) {
  return [=](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = receiver_fn(batch_size);
    const Tensor y = MatMul(receiver.features.at("x"), GetVariable("w", {2, 1}, {}));
    std::map<std::string, std::string> excluded;
    built.signatures = BuildServingSignatures(
        {{"serving_default", PredictOutput({{"y", y}})}, {"regress", RegressionOutput(y)}},
        receiver, excluded);
    built.parsing = receiver.parsing;
    return built;
  };
}
ServingInputReceiverFn Raw(std::optional<int64_t> batch_size = std::nullopt) {
  return BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}, batch_size);
}

std::shared_ptr<VariableStore> Weights() {
  auto store = std::make_shared<VariableStore>();
  EST_EXPECT_OK(store->Set("w", Array::Of<float>({2, 1}, {10, 1})));
  return store;
}

std::unique_ptr<Predictor> MakePredictor(const PredictorOptions& options = {}) {
  auto predictor = CreatePredictor(Linear(Raw()), Weights(), "serving_default", options);
  EST_EXPECT_OK(predictor);
  return *std::move(predictor);
}

// Rows (i, i + 1) from `first` on: y = 11 i + 1.
Array Rows(int64_t count, int64_t first = 0) {
  Array rows(DType::kFloat32, {count, 2});
  for (int64_t i = 0; i < count; ++i) {
    rows.data<float>()[2 * i] = static_cast<float>(first + i);
    rows.data<float>()[2 * i + 1] = static_cast<float>(first + i + 1);
  }
  return rows;
}

TEST(PredictorTest, AnyBatchSizeIsServed) {
  const auto predictor = MakePredictor();
  EXPECT_EQ(predictor->inputs().at("x").ToString(), "f32 [?,2]");
  EXPECT_EQ(predictor->outputs().at("y").ToString(), "f32 [?,1]");
  for (const int64_t rows : {1, 5, 3, 64, 1}) {
    const auto outputs = predictor->Predict(ArrayMap{{"x", Rows(rows)}});
    EST_ASSERT_OK(outputs);
    EXPECT_EQ(outputs->at("y").shape().ToString(), Shape({rows, 1}).ToString());
    EXPECT_EQ(outputs->at("y").AsDouble(rows - 1), 11.0 * static_cast<double>(rows - 1) + 1);
  }
}

TEST(PredictorTest, ProgramsAreKeptUpToABound) {
  const auto predictor = MakePredictor({.max_programs = 2});
  for (int64_t rows = 1; rows < 9; ++rows) {
    EST_ASSERT_OK(predictor->Predict(ArrayMap{{"x", Rows(rows)}}));
    EXPECT_LE(predictor->num_programs(), 2);
  }
}

TEST(PredictorTest, ThreadsGetTheirOwnResults) {
  const auto predictor = MakePredictor({.max_programs = 2, .num_sessions = 2});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int64_t first = 1000 * t + i;
        const auto outputs = predictor->Predict(ArrayMap{{"x", Rows(1 + i % 3, first)}});
        const double expected = 11.0 * static_cast<double>(first) + 1;
        if (!outputs.ok() || outputs->at("y").AsDouble(0) != expected)
          ++wrong[static_cast<size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

// y = x v<rows>: another variable for each number of rows, which is loaded with its graph.
class VariableOfTheSize : public ServableSignature {
 public:
  const std::string& name() const override { return name_; }
  const SavedSignature& signature() const override { return signature_; }
  absl::StatusOr<SignatureGraph> GraphFor(const InputShapes& shapes) const override {
    SignatureGraph made;
    made.graph = std::make_unique<Graph>();
    const GraphScope scope(*made.graph);
    const Tensor x = Placeholder(DType::kFloat32, shapes.at("x"), "x");
    made.inputs["x"] = x;
    made.outputs["y"] = MatMul(x, GetVariable(absl::StrCat("v", x.dim(0)), {2, 1}, {}));
    return made;
  }
  absl::Status LoadVariables(const SignatureGraph& graph, VariableStore& store) const override {
    for (const Variable& variable : graph.graph->variables()) {
      if (store.Has(variable.name())) continue;
      EST_RETURN_IF_ERROR(store.Set(variable.name(), Array::Of<float>({2, 1}, {10, 1})));
    }
    return absl::OkStatus();
  }
  std::vector<InputShapes> SampleShapes() const override { return {}; }

 private:
  const std::string name_ = "serve";
  const SavedSignature signature_ = {
      .method_name = "",
      .inputs = {{"x", {"x:0", DType::kFloat32, Shape({Shape::kUnknownDim, 2})}}},
      .outputs = {{"y", {"y:0", DType::kFloat32, Shape({Shape::kUnknownDim, 1})}}}};
};

TEST(PredictorTest, AVariableThatIsLoadedForOneRequestLeavesAnotherThatRunsAlone) {
  const auto predictor = Predictor::Create(std::make_unique<VariableOfTheSize>(),
                                           std::make_shared<VariableStore>(), {.num_sessions = 2});
  EST_ASSERT_OK(predictor);
  std::vector<std::thread> threads;
  std::vector<int> wrong(2, 0);
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 1; i <= 200; ++i) {
        const auto outputs = (*predictor)->Predict(ArrayMap{{"x", Rows(t == 0 ? i : 201 - i, i)}});
        if (!outputs.ok() || outputs->at("y").AsDouble(0) != 11.0 * static_cast<double>(i) + 1)
          ++wrong[static_cast<size_t>(t)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0));
}

// The bound: 4 MiB over 10,000 requests; a request that leaked its 4 KiB would take 40.
TEST(PredictorTest, MemoryStaysFlatOverTenThousandRequests) {
  const auto predictor = MakePredictor({.max_programs = 4});
  const auto serve = [&](int count) {
    for (int i = 0; i < count; ++i)
      EST_ASSERT_OK(predictor->Predict(ArrayMap{{"x", Rows(509 + i % 4)}}));
  };
  serve(500);
  const int64_t before = ResidentBytes();
  serve(10000);
  testing::ExpectGrowthBelow(ResidentBytes() - before, 4 << 20);
}

TEST(PredictorTest, ARequestIsRefusedWithAllThatIsWrongWithIt) {
  const auto predictor = MakePredictor();
  const auto error = [&](const ArrayMap& inputs) {
    const auto outputs = predictor->Predict(inputs);
    EXPECT_THAT(outputs, StatusIs(absl::StatusCode::kInvalidArgument));
    return outputs.status();
  };
  const absl::Status names = error(ArrayMap{{"X", Rows(1)}});
  EXPECT_THAT(names, ErrorHas("there is no input 'X' (did you mean 'x'?)"));
  EXPECT_THAT(names, ErrorHas("input 'x' is missing"));
  EXPECT_THAT(names, ErrorHas("It takes: 'x' (f32 [?,2])"));
  EXPECT_THAT(error(ArrayMap{{"x", Array(DType::kInt32, {1, 2})}}),
              ErrorHas("input 'x' is i32 [1,2], but the signature takes f32 [?,2]"));
  EXPECT_THAT(error(ArrayMap{{"x", Array(DType::kFloat32, {1, 3})}}), ErrorHas("is f32 [1,3]"));
  EXPECT_THAT(error(ArrayMap{{"x", Array(DType::kFloat32, {2})}}), ErrorHas("is f32 [2]"));
  EXPECT_THAT(error(ArrayMap{{"x", Array(DType::kFloat32, {0, 2})}}), ErrorHas("has no rows"));
  EST_EXPECT_OK(predictor->Predict(ArrayMap{{"x", Rows(1)}}));
}

TEST(PredictorTest, AModelOfOneBatchSizeTakesThatOne) {
  const auto predictor = CreatePredictor(Linear(Raw(4)), Weights());
  EST_ASSERT_OK(predictor);
  EST_EXPECT_OK((*predictor)->Predict(ArrayMap{{"x", Rows(4)}}));
  EXPECT_THAT((*predictor)->Predict(ArrayMap{{"x", Rows(3)}}),
              ErrorHas("the signature takes f32 [4,2]"));
}

// `model` of a feature x: f32 [batch, 2], its result as y. `calls` counts how often it is built.
ExportGraphFn Counted(std::function<Tensor(const Tensor&)> model, int* calls) {
  return [=](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ++*calls;
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = Raw()(batch_size);
    std::map<std::string, std::string> excluded;
    built.signatures = BuildServingSignatures(
        {{"serving_default", PredictOutput({{"y", model(receiver.features.at("x"))}})}}, receiver,
        excluded);
    return built;
  };
}

TEST(PredictorTest, TheModelIsNotBuiltByRequests) {
  int calls = 0;
  const auto predictor =
      CreatePredictor(Counted(
                          [](const Tensor& x) {
                            const Tensor both = Concat({x, Ones({x.dim(0), 1})}, 1);
                            return ReduceSum(Reshape(both, {x.dim(0), 3}), {1});
                          },
                          &calls),
                      std::make_shared<VariableStore>());
  EST_ASSERT_OK(predictor);
  const int before = calls;
  for (const int64_t rows : {7, 1, 300, 2000}) {
    const auto outputs = (*predictor)->Predict(ArrayMap{{"x", Rows(rows)}});
    EST_ASSERT_OK(outputs);
    EXPECT_EQ(outputs->at("y").num_elements(), rows);
    EXPECT_EQ(outputs->at("y").AsDouble(rows - 1), 2.0 * static_cast<double>(rows));
  }
  EXPECT_EQ(calls, before);
}

TEST(PredictorTest, ClassesAreStrings) {
  Array examples(DType::kString, {2});
  examples.data<std::string>()[0] = ExampleBuilder().Floats("x", {1, 2, 3}).Serialize();
  examples.data<std::string>()[1] = ExampleBuilder().Floats("x", {3, 2, 1}).Serialize();
  const auto classify = CreatePredictor(BuildStringClasses, std::make_shared<VariableStore>());
  EST_ASSERT_OK(classify);
  EXPECT_EQ((*classify)->outputs().at("classes").ToString(), "str [?,3]");
  const auto outputs = (*classify)->Predict(ArrayMap{{"inputs", examples}});
  EST_ASSERT_OK(outputs);
  EXPECT_THAT(outputs->at("classes").values<std::string>(),
              ElementsAre("cat", "dog", "cow", "cat", "dog", "cow"));
  const auto best = CreatePredictor(BuildStringClasses, std::make_shared<VariableStore>(), "best");
  EST_ASSERT_OK(best);
  EXPECT_THAT((*best)->Predict(ArrayMap{{"examples", examples}})->at("class").values<std::string>(),
              ElementsAre("cow", "cat"));
}

TEST(PredictorTest, SerializedExamplesAreParsed) {
  const auto predictor = CreatePredictor(
      Linear(BuildParsingServingInputReceiverFn({{"x", FixedLenFeature{.shape = {2}}}})), Weights(),
      "regress");
  EST_ASSERT_OK(predictor);
  EXPECT_EQ((*predictor)->method_name(), "tensorflow/serving/regress");
  Array examples(DType::kString, {2});
  examples.data<std::string>()[0] = ExampleBuilder().Floats("x", {1, 2}).Serialize();
  examples.data<std::string>()[1] = ExampleBuilder().Floats("x", {3, 4}).Serialize();
  const auto outputs = (*predictor)->Predict(ArrayMap{{"inputs", examples}});
  EST_ASSERT_OK(outputs);
  EXPECT_THAT(outputs->at("outputs").values<float>(), ElementsAre(12, 34));
  examples.data<std::string>()[1] = ExampleBuilder().Floats("y", {3, 4}).Serialize();
  EXPECT_THAT((*predictor)->Predict(ArrayMap{{"inputs", examples}}), ErrorHas("example 1: "));
}

TEST(PredictorTest, WhatIsWrongWithTheModelShowsWhenItIsMade) {
  EXPECT_THAT(CreatePredictor(Linear(Raw()), Weights(), "classify"),
              ErrorHas("no signature 'classify'; it has: serving_default"));
  EXPECT_THAT(CreatePredictor(Linear(Raw()), std::make_shared<VariableStore>()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(CreatePredictor(Linear(Raw()), Weights(), "serving_default", {.max_programs = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator
