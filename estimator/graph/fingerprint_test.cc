#include "estimator/graph/fingerprint.h"

#include "gtest/gtest.h"

namespace estimator {
namespace {

struct Case {
  float value = 1;
  const char* name = "a";
  bool reads_first = true;
};

uint32_t Of(const Case& c) {
  Graph graph;
  const Tensor first = graph.AddConst(Array::Scalar(c.value), c.name);
  const Tensor second = graph.AddConst(Array::Scalar(2.f), "b");
  graph.AddOp("Identity", {c.reads_first ? first : second}, {{"T", DType::kFloat32}});
  EXPECT_TRUE(graph.status().ok()) << graph.status();
  return GraphFingerprint(graph);
}

TEST(GraphFingerprint, TellsConstantsNamesAndInputsApart) {
  EXPECT_EQ(Of({}), Of({}));
  EXPECT_NE(Of({}), Of({.value = 3}));
  EXPECT_NE(Of({}), Of({.name = "c"}));
  EXPECT_NE(Of({}), Of({.reads_first = false}));
}

}  // namespace
}  // namespace estimator
