// Where each rule begins: numbers on both sides of its limit. The gallery has a program well beyond
// it.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/rules/checked_model.h"
#include "tpu/rules/config_rules.h"
#include "tpu/rules/graph_rules.h"
#include "tpu/rules/input_rules.h"
#include "tpu/rules/layout_rules.h"
#include "tpu/rules/report.h"
#include "tpu/rules/spec_rules.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<std::string>;

ReplicasStrategyOptions Options(int64_t cores, BatchSizes batch_sizes) {
  ReplicasStrategyOptions options;
  options.tpu_config.num_shards = cores;
  options.tpu_config.iterations_per_loop = 100;
  options.batch_sizes = batch_sizes;
  return options;
}
Report ReportOf(const ReplicasStrategyOptions& options, Mode mode = Mode::kTrain) {
  Report report;
  CheckConfig(options, mode, /*num_steps_given=*/true, report);
  return report;
}

TEST(ConfigLimits, CoresAreOneTwoFourOrAMultipleOfEight) {
  for (const int64_t cores : {1, 2, 3, 4, 6, 7, 8, 9, 12, 16, 24, 2048}) {
    const bool exists = cores == 1 || cores == 2 || cores == 4 || cores % 8 == 0;
    const Ids found = ReportOf(Options(cores, {.train = 128 * cores})).RuleIds();
    EXPECT_EQ(found, exists ? Ids{} : Ids{"num-shards"}) << cores;
  }
}

TEST(ConfigLimits, ABatchIsDividedByTheCoresThatShareIt) {
  EXPECT_THAT(ReportOf(Options(8, {.train = 1024})).RuleIds(), IsEmpty());
  const Report more = ReportOf(Options(8, {.train = 1025}));
  ASSERT_THAT(more.RuleIds(), ElementsAre("batch-not-divisible"));
  EXPECT_THAT(more.findings()[0].what, HasSubstr("1025 rows leave 1 when"));
  EXPECT_THAT(more.findings()[0].cure, HasSubstr("use 1024 or 1032;"));
  // Fewer rows than cores cannot be rounded down.
  EXPECT_THAT(ReportOf(Options(8, {.train = 7})).findings()[0].cure, HasSubstr("use 8;"));
  // A call of Train checks the other modes that have a batch size; another call only its own.
  const ReplicasStrategyOptions all = Options(8, {.train = 8, .eval = 9, .predict = 10});
  EXPECT_EQ(ReportOf(all).num_violations(), 2);
  EXPECT_EQ(ReportOf(all, Mode::kEval).findings()[0].where, "eval_batch_size");
  EXPECT_EQ(ReportOf(all, Mode::kEval).findings().size(), 1u);
  // The host evaluates whole batches, and each core may get the whole batch.
  ReplicasStrategyOptions host = Options(8, {.train = 8, .eval = 9});
  host.eval_on_tpu = false;
  EXPECT_THAT(ReportOf(host).RuleIds(), IsEmpty());
  ReplicasStrategyOptions broadcast = Options(8, {.train = 9, .eval = 9});
  broadcast.tpu_config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  EXPECT_THAT(ReportOf(broadcast).RuleIds(), IsEmpty());
  broadcast.tpu_config.eval_training_input_configuration = InputPipelineConfig::SLICED;
  EXPECT_EQ(ReportOf(broadcast).findings()[0].where, "eval_batch_size");
}

TEST(ConfigLimits, ANumberOfCoresThatIsRefusedRoundsNothing) {
  TPUConfig config;
  config.num_shards = 0;
  EXPECT_EQ(DivisibleBatchSizes({.train = 7}, config).train, 7);
}

TEST(ConfigLimits, TheOtherRulesSeeBatchesThatDivide) {
  TPUConfig config;
  config.num_shards = 8;
  const BatchSizes rounded = DivisibleBatchSizes({.train = 1, .eval = 16, .predict = 17}, config);
  EXPECT_EQ(rounded.train, 8);
  EXPECT_EQ(rounded.eval, 16);
  EXPECT_EQ(rounded.predict, 24);
  config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  EXPECT_EQ(DivisibleBatchSizes({.train = 1}, config).train, 1);
}

// What the rules of a prediction find in a graph.
class ModelLimits : public ::testing::Test {
 protected:
  using Check = void (*)(const CheckedModel&, Report&);
  // `build` returns the prediction. A core has `rows` rows.
  Report Find(Check check, int64_t rows, const std::function<Tensor()>& build) {
    Graph graph;
    const GraphScope scope(graph);
    ModelSpec spec;
    spec.mode = Mode::kPredict;
    spec.predictions = {{"y", build()}};
    EXPECT_TRUE(graph.status().ok()) << graph.status();
    Report report;
    check({.mode = Mode::kPredict,
           .graph = graph,
           .spec = spec,
           .rows = rows,
           .num_replicas = 8,
           .core_memory_gib = 1},
          report);
    return report;
  }
  static Tensor Floats(const Shape& shape) { return Placeholder(DType::kFloat32, shape); }
};

TEST_F(ModelLimits, RowsAreMultiplesOfEight) {
  for (const int64_t rows : {0, 1, 7, 8, 9, 128}) {
    const Ids found = Find(CheckLayoutRules, rows, [] { return Floats({1}) + 1.0f; }).RuleIds();
    EXPECT_EQ(found, rows % 8 == 0 ? Ids{}
                     : rows < 8    ? Ids{"few-rows"}
                                   : Ids{"rows-not-of-8"})
        << rows;
  }
}

TEST_F(ModelLimits, FeaturesAreMultiplesOf128OnBothSides) {
  const auto product = [&](const Shape& a, const Shape& b, bool transpose) {
    const Report report = Find(CheckLayoutRules, 8, [&] {
      return MatMul(Floats(a), Floats(b), {.transpose_a = transpose});
    });
    return report.findings().empty() ? "" : report.findings()[0].what;
  };
  EXPECT_EQ(product({8, 128}, {128, 256}, false), "");
  EXPECT_EQ(product({128, 8}, {128, 256}, true), "");
  EXPECT_THAT(product({8, 100}, {100, 256}, false),
              HasSubstr("input features 100 and output features 256 are padded to 128 and 256"));
  // The rows of a transposed matrix are its features.
  EXPECT_THAT(product({200, 128}, {200, 128}, true),
              HasSubstr("input features 200 and output features 128 are padded to 256 and 128"));
  EXPECT_THAT(product({8, 128}, {128, 129}, false), HasSubstr("output features 129"));
}

TEST_F(ModelLimits, TensorsFitIntoACoreAndGrowLessThanFourTimes) {
  const auto tensor = [&](const Shape& shape) {
    return Find(CheckLayoutRules, 8, [&] { return Floats(shape) + 1.0f; }).RuleIds();
  };
  EXPECT_THAT(tensor({1 << 21, 128}), IsEmpty());  // 1 GiB
  EXPECT_THAT(tensor({(1 << 21) + 8, 128}), ElementsAre("tensor-too-large"));
  // 64 of 128 lanes and 4 of 8 rows: 4 times the size, 32 MiB. Then half of it, and 5 of 8 rows.
  EXPECT_THAT(tensor({64, 4, 4, 4, 4, 4, 4, 4, 2}), ElementsAre("tiled-size"));
  EXPECT_THAT(tensor({64, 4, 4, 4, 4, 4, 4, 4}), IsEmpty());
  EXPECT_THAT(tensor({64, 5, 4, 4, 4, 4, 4, 4, 4}), IsEmpty());
}

TEST_F(ModelLimits, ConstantsStayBelow64Mib) {
  const auto constant = [&](int64_t rows) {
    return Find(CheckGraphRules, 8,
                [&] {
                  return Constant(Array(DType::kFloat32, {rows, 1024})) + Floats({1024});
                })
        .RuleIds();
  };
  EXPECT_THAT(constant((16 << 10) - 1), IsEmpty());
  EXPECT_THAT(constant(16 << 10), ElementsAre("large-constant"));
}

TEST_F(ModelLimits, PredictionsStayBelowAGibAndHaveARowForEachExample) {
  const auto prediction = [&](const Shape& shape) {
    return Find(CheckSpecRules, 8, [&] { return Floats(shape); }).RuleIds();
  };
  EXPECT_THAT(prediction({8, (1 << 25) - 1}), IsEmpty());
  EXPECT_THAT(prediction({8, 1 << 25}), ElementsAre("predictions-too-large"));
  EXPECT_THAT(prediction({7}), ElementsAre("prediction-rows"));
  EXPECT_THAT(prediction({}), ElementsAre("prediction-rows"));
}

// The builder of models reports it.
TEST(SpecLimits, ATrainingWithoutATrainOpHasNoUpdatesToCheck) {
  Graph graph;
  const GraphScope scope(graph);
  GetOrCreateGlobalStep();
  ModelSpec spec;
  spec.mode = Mode::kTrain;
  Report report;
  CheckSpecRules({.mode = Mode::kTrain, .graph = graph, .spec = spec, .num_replicas = 8}, report);
  EXPECT_THAT(report.RuleIds(), IsEmpty());
}

TEST_F(ModelLimits, OneElementOfInt64IsNoArray) {
  const auto ids = [&](const Shape& shape) {
    return Find(CheckGraphRules, 8,
                [&] { return Placeholder(DType::kInt64, shape) + Constant(int64_t{1}); })
        .RuleIds();
  };
  EXPECT_THAT(ids({}), IsEmpty());
  EXPECT_THAT(ids({1}), IsEmpty());
  EXPECT_THAT(ids({2}), ElementsAre("int64"));
}

TEST(InputLimits, OnlyTheBatchAxisOfATrainingThatEndsMayBeSmaller) {
  const auto find = [](Mode mode, int64_t cardinality, const Shape& shape, int64_t axis) {
    Report report;
    ElementSpec spec;
    spec.features["x"] = {DType::kFloat32, shape};
    CheckSignature({.mode = mode, .spec = spec, .cardinality = cardinality, .batch_axis = {axis}},
                   report);
    return report.RuleIds();
  };
  constexpr int64_t kOpen = Shape::kUnknownDim;
  EXPECT_THAT(find(Mode::kTrain, 5, {8, 3}, 0), IsEmpty());
  EXPECT_THAT(find(Mode::kTrain, 5, {kOpen, 3}, 0), ElementsAre("partial-batch"));
  EXPECT_THAT(find(Mode::kTrain, Dataset::kInfinite, {kOpen, 3}, 0), ElementsAre("open-batch"));
  EXPECT_THAT(find(Mode::kEval, 5, {kOpen, 3}, 0), ElementsAre("open-batch"));
  EXPECT_THAT(find(Mode::kTrain, 5, {8, kOpen}, 0), ElementsAre("dynamic-shape"));
  EXPECT_THAT(find(Mode::kTrain, 5, {8, kOpen}, 1), ElementsAre("partial-batch"));
}

// What is found in an input of 200 batches.
std::vector<std::string> FindInBatches(const std::function<Array(int64_t number)>& batch) {
  const InputFn input([batch](const InputFn::Call&) -> absl::StatusOr<Dataset> {
    return Dataset::Range(0, 200).Map([batch](const Element& e) -> absl::StatusOr<Element> {
      return Element{.features = {{"x", batch(e.features.Only()->scalar<int64_t>())}},
                     .labels = {}};
    });
  });
  Report report;
  CheckInput(*MakeLocalStrategy(nullptr), Mode::kTrain, input, report);
  std::vector<std::string> texts;
  for (const Finding& finding : report.findings()) texts.push_back(finding.what);
  return texts;
}

TEST(InputLimits, EachShapeOfTheFirstHundredBatchesIsAProgram) {
  const auto found = [](int64_t num_shapes) {
    return FindInBatches([=](int64_t i) {
      return Array(DType::kFloat32, {8, 1 + i % num_shapes});
    });
  };
  EXPECT_THAT(found(1), IsEmpty());
  EXPECT_THAT(found(5), ElementsAre("it is f32 [8,1] in the first step and f32 [8,2] in step 2; "
                                    "the first 100 steps have 5 shapes, and each is a program to "
                                    "compile"));
}

TEST(InputLimits, NoBatchIsReadAfterAGib) {
  const auto found = [](int64_t first_bytes) {
    return FindInBatches([=](int64_t i) {
      return Array(DType::kUint8, {1, i == 0 ? first_bytes : 2});
    });
  };
  EXPECT_THAT(found(int64_t{1} << 30), IsEmpty());
  EXPECT_THAT(found((int64_t{1} << 30) - 1),
              ElementsAre(HasSubstr("u8 [1,1073741823] in the first step and u8 [1,2] in step 2")));
}

TEST(InputLimits, ABatchOfOtherRowsKeepsTheOtherAxes) {
  const Element element{.features = {{"x", Array(DType::kFloat32, {2, 3})}},
                        .labels = Array(DType::kInt32, {2})};
  const Element eight = WithRows(element, 8, {});
  EXPECT_EQ(eight.features.at("x").shape(), (Shape{8, 3}));
  EXPECT_EQ(eight.labels.begin()->second.shape(), (Shape{8}));
  // The axes are given array by array, the features first.
  EXPECT_EQ(WithRows(element, 8, {1, 0}).features.at("x").shape(), (Shape{2, 8}));
}

}  // namespace
}  // namespace estimator::tpu
