#include "tpu/rules/layout_rules.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/matmul.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/rules/checked_model.h"
#include "tpu/rules/report.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;

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
