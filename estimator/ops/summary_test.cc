#include "estimator/ops/summary.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/summary/summary_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using SummaryTest = GraphTest;

TEST_F(SummaryTest, IsRequestedFromTheTensorsGraph) {
  const Tensor loss = Constant(1.0f);
  EXPECT_EQ(summary::Scalar("loss", loss), "loss");
  EXPECT_EQ(summary::Histogram("weights", Zeros({3})), "weights");
  EXPECT_EQ(summary::Image("input", Zeros({8, 4, 4, 1}), 2), "input");
  ASSERT_EQ(graph_.summaries().size(), 3);
  EXPECT_EQ(graph_.summaries()[0].kind, SummaryRequest::Kind::kScalar);
  EXPECT_EQ(graph_.summaries()[0].value, loss);
  EXPECT_EQ(graph_.summaries()[1].kind, SummaryRequest::Kind::kHistogram);
  EXPECT_EQ(graph_.summaries()[2].kind, SummaryRequest::Kind::kImage);
  EXPECT_EQ(graph_.summaries()[2].max_outputs, 2);
}

TEST_F(SummaryTest, TagsAreCleanedScopedAndUnique) {
  const Tensor x = Constant(1.0f);
  EXPECT_EQ(summary::Scalar("learning rate (%)", x), "learning_rate____");
  const NameScope tower("tower");
  EXPECT_EQ(summary::Scalar("loss", x), "tower/loss");
  EXPECT_EQ(summary::Scalar("loss", x), "tower/loss_1");
  EXPECT_EQ(summary::Scalar("/loss/a", x), "tower/loss/a");
}

TEST_F(SummaryTest, RefusesValuesThatDoNotFit) {
  const auto error = [](auto build) {
    Graph graph;
    const GraphScope scope(graph);
    build();
    EXPECT_EQ(graph.summaries().size(), 0);
    return graph.status();
  };
  EXPECT_THAT(error([] { summary::Scalar("x", Zeros({2})); }), ErrorHas("one number, not f32 [2]"));
  EXPECT_THAT(error([] { summary::Image("x", Zeros({2, 4, 4, 2})); }), ErrorHas("channels"));
  EXPECT_THAT(error([] { summary::Image("x", Zeros({4, 4, 1})); }), ErrorHas("[4,4,1]"));
  EXPECT_THAT(error([] { summary::ImageValue("x", Zeros({4, 4, 1})); }), ErrorHas("[4,4,1]"));
  EXPECT_THAT(error([] {
                summary::ImageValue("x", Zeros({1, 4, 4, 1}), 0);
              }),
              ErrorHas("max_outputs of at least 1"));
  EXPECT_THAT(error([] { summary::Histogram("x", Constant(Array::String("a"))); }),
              ErrorHas("numbers"));
}

TEST_F(SummaryTest, AnImageAsAValueIsTheSerializedSummaryOfTheFirstOnes) {
  const Array pixels = testing::Scrambled({5, 2, 3, 1}, 0, 255);
  for (const DType dtype : {DType::kUint8, DType::kFloat32, DType::kFloat64, DType::kBfloat16}) {
    for (const int max_outputs : {1, 3}) {
      const Tensor value =
          summary::ImageValue("the picture", Constant(pixels.Cast(dtype)), max_outputs);
      EXPECT_EQ(value.spec().ToString(), "str []");
      const absl::StatusOr<Array> bytes = testing::Eval(value);
      EST_ASSERT_OK(bytes);
      const Array seen =
          dtype == DType::kUint8 ? pixels.Cast(dtype) : pixels.Cast(dtype).Cast(DType::kFloat32);
      EXPECT_EQ(bytes->scalar<std::string>(), *ImageSummary("the_picture", seen, max_outputs));
    }
  }
  EXPECT_EQ(graph_.summaries().size(), 0) << "nothing is written by itself";
}

}  // namespace
}  // namespace estimator
