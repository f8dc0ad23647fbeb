#include "tpu/rules/layout_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/rules/checked_model.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(TiledBytesTest, PadsOneAxisTo128AndAnotherTo8) {
  EXPECT_EQ(TiledBytes({DType::kFloat32, {8, 128}}), 8 * 128 * 4);
  EXPECT_EQ(TiledBytes({DType::kFloat32, {9, 100}}), 16 * 128 * 4);
  // The long axis becomes the one of 128: 3 is padded to 8 only.
  EXPECT_EQ(TiledBytes({DType::kFloat32, {256, 3}}), 256 * 8 * 4);
  EXPECT_EQ(TiledBytes({DType::kFloat32, {5, 2, 2}}), 2 * 8 * 128 * 4);
}

TEST(TiledBytesTest, PacksSmallNumbers) {
  EXPECT_EQ(TiledBytes({DType::kBfloat16, {16, 128}}), 16 * 128 * 2);
  EXPECT_EQ(TiledBytes({DType::kBfloat16, {8, 128}}), 16 * 128 * 2);
  EXPECT_EQ(TiledBytes({DType::kUint8, {8, 128}}), 32 * 128);
}

TEST(TiledBytesTest, ScalarsAndVectorsArePaddedOnOneAxis) {
  EXPECT_EQ(TiledBytes({DType::kFloat32, {}}), 128 * 4);
  EXPECT_EQ(TiledBytes({DType::kFloat32, {129}}), 256 * 4);
  EXPECT_EQ(TiledBytes({DType::kFloat32, {0, 3}}), 0);
  EXPECT_EQ(TiledBytes({DType::kString, {4}}), 0);
}

TEST(PaddedArithmeticTest, IsTheGrowthOfAllThreeSizesOfAProduct) {
  Graph graph;
  const GraphScope scope(graph);
  const auto growth = [](const Shape& a, const Shape& b) {
    return PaddedArithmetic(*MatMul(Zeros(a), Zeros(b)).node());
  };
  EXPECT_DOUBLE_EQ(growth({8, 128}, {128, 256}), 1);
  EXPECT_DOUBLE_EQ(growth({4, 64}, {64, 32}), 2 * 2 * 4);
  EXPECT_DOUBLE_EQ(PaddedArithmetic(*Zeros({3, 3}).node()), 1) << "no product";
}

TEST(PaddedArithmeticTest, KnowsTheSizesOfEveryKindOfProduct) {
  Graph graph;
  const GraphScope scope(graph);
  // m, k and n are 4, 64 and 16.
  const double growth = 2 * 2 * 8;
  const auto of = [](const Tensor& product) { return PaddedArithmetic(*product.node()); };
  EXPECT_DOUBLE_EQ(of(MatMul(Zeros({64, 4}), Zeros({64, 16}), {.transpose_a = true})), growth);
  EXPECT_DOUBLE_EQ(of(BatchMatMulV2(Zeros({3, 4, 64}), Zeros({3, 64, 16}))), growth);
  EXPECT_DOUBLE_EQ(of(BatchMatMulV2(Zeros({3, 64, 4}), Zeros({3, 64, 16}), {.adj_x = true})),
                   growth);
  EXPECT_DOUBLE_EQ(of(Conv2D(Zeros({1, 2, 2, 64}), Zeros({3, 3, 64, 16}))), growth);
  EXPECT_DOUBLE_EQ(of(Conv2D(Zeros({3, 5, 4, 64}), Zeros({3, 3, 64, 16}))), 64. / 60 * 2 * 8);
}

// The findings for a model of 8 cores that predicts y.
std::vector<std::string> Findings(const Tensor& y, int64_t rows = 8) {
  ModelSpec spec;
  spec.predictions = {{"y", y}};
  Report report;
  CheckLayoutRules({.mode = Mode::kPredict,
                    .graph = Graph::Current(),
                    .spec = spec,
                    .rows = rows,
                    .num_replicas = 8,
                    .core_memory_gib = 1},
                   report);
  std::vector<std::string> findings;
  for (const Finding& finding : report.findings())
    findings.push_back(absl::StrCat(finding.rule->id, ": ", finding.what, "; ", finding.cure));
  return findings;
}

TEST(CheckFeaturesTest, CountsTheProductsOfOneShape) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor x = Placeholder(DType::kFloat32, {8, 128}), w = Zeros({128, 100});
  const std::string what =
      "input features 128 and output features 100 are padded to 128 and 128: the matrix unit makes "
      "1.3 times the multiplications, and the output takes 0.0 MiB for 0.0 MiB; where the sizes "
      "are free, use 128 and 128, which cost the same; ";
  EXPECT_THAT(Findings(MatMul(x, w)),
              ElementsAre(StartsWith(absl::StrCat("features-not-of-128: ", what))));
  EXPECT_THAT(
      Findings(MatMul(x, w) + MatMul(x * 2.f, w)),
      ElementsAre(StartsWith(absl::StrCat("features-not-of-128: 2 ops of these shapes; ", what))));
  EXPECT_THAT(Findings(MatMul(x, Zeros({128, 256}))), IsEmpty());
}

TEST(CheckTensorsTest, ReportsTensorsThatGrowFourTimesTo32Mib) {
  Graph graph;
  const GraphScope scope(graph);
  const auto of = [](const Shape& shape) { return Findings(Placeholder(DType::kFloat32, shape)); };
  // The long axis is that of 128, so 2 is padded to 8.
  EXPECT_THAT(of({1 << 20, 2}),
              ElementsAre(StartsWith("tiled-size: f32 [1048576,2] has 8.0 MiB and takes 32.0 MiB, "
                                     "4.0 times as much; ")));
  EXPECT_THAT(of({(1 << 20) - 128, 2}), IsEmpty()) << "less than 32 MiB";
  EXPECT_THAT(of({1 << 20, 3}), IsEmpty()) << "less than 4 times as much";
  EXPECT_THAT(of({1 << 25, 8}), IsEmpty()) << "as large as the memory";
  EXPECT_THAT(of({(1 << 25) + 128, 8}),
              ElementsAre(StartsWith("tensor-too-large: f32 [33554560,8] takes 1.0 GiB of the 1 "
                                     "GiB of a core; ")));
}

TEST(CheckRowsTest, SaysWhichBatchHasFullTiles) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor y = Placeholder(DType::kFloat32, {8, 128});
  EXPECT_THAT(Findings(y, 8), IsEmpty());
  EXPECT_THAT(Findings(y, 0), IsEmpty()) << "no batch axis";
  EXPECT_THAT(Findings(y, 7),
              ElementsAre("few-rows: a core has 7 rows of 56, so each tile of 8 rows has 1 empty "
                          "ones; use a global batch of 64, which is 8 rows on each of 8 cores; 128 "
                          "rows a core are best"));
  EXPECT_THAT(Findings(y, 9),
              ElementsAre("rows-not-of-8: a core has 9 rows, which are padded to 16; use a global "
                          "batch of 128, which is 16 rows on each of 8 cores; 128 rows a core are "
                          "best"));
}

TEST(CheckRowsTest, CountsTheRowsOfTheGlobalBatch) {
  Graph graph;
  const GraphScope scope(graph);
  const ModelSpec spec;
  const auto what = [&](bool broadcast) {
    Report report;
    CheckLayoutRules({.graph = graph,
                      .spec = spec,
                      .rows = 4,
                      .num_replicas = 8,
                      .broadcast = broadcast,
                      .core_memory_gib = 16},
                     report);
    return report.findings().empty() ? "" : report.findings()[0].what;
  };
  EXPECT_THAT(what(false), HasSubstr("a core has 4 rows of 32,"));
  EXPECT_THAT(what(true), HasSubstr("a core has 4 rows of 4,"));  // each core gets all of them
}

TEST(CoreMemoryTest, IsThatOfTheTopologyOrOfTheLargestTpu) {
  EXPECT_EQ(CoreMemoryGib("v2-8"), 8);
  EXPECT_EQ(CoreMemoryGib("v5e-8"), 16);
  EXPECT_EQ(CoreMemoryGib("rules"), 95);
}

}  // namespace
}  // namespace estimator::tpu
