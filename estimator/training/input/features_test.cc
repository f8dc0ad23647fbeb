#include "estimator/training/input/features.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

class FeaturesTest : public testing::Test {
 protected:
  Tensor Input() {
    const GraphScope scope(graph_);
    return Placeholder(DType::kInt32, {}, "input");
  }
  Graph graph_;
};

TEST_F(FeaturesTest, GiveTensorsByName) {
  const Tensor image = Input();
  const Features features(&graph_, "features", {{"image", image}});
  EXPECT_EQ(features["image"], image);
  EXPECT_TRUE(features.has("image"));
}

TEST_F(FeaturesTest, AnUnknownNameListsWhatIsThere) {
  const Features features(&graph_, "features", {{"image", Input()}, {"weight", Input()}});
  EXPECT_FALSE(features["imgae"].valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("features has no 'imgae'; input_fn gives 'image', 'weight' (did you mean 'image'?)"));
}

TEST_F(FeaturesTest, OneTensorConverts) {
  const Tensor label = Input();
  const Tensor converted = Labels(&graph_, "labels", {{"", label}});
  EXPECT_EQ(converted, label);
}

TEST_F(FeaturesTest, ANameOfTheOnlyTensorIsToldHowToBeGiven) {
  const Features features(&graph_, "features", {{"", Input()}});
  EXPECT_FALSE(features["x"].valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorHas("model_fn asks for features['x'], but features is one tensor without a name: "
               "name it in the dataset, .features = {{\"x\", array}}, or"));
}

TEST_F(FeaturesTest, SeveralTensorsDoNotConvertSilently) {
  const Tensor converted = Labels(&graph_, "labels", {{"a", Input()}, {"b", Input()}});
  EXPECT_FALSE(converted.valid());
  EXPECT_THAT(graph_.status(), ErrorHas("gives 2: 'a', 'b'"));
}

TEST_F(FeaturesTest, NoLabelsConvertToNoTensorWithoutAnError) {
  const Tensor converted = Labels(&graph_, "labels", {});
  EXPECT_FALSE(converted.valid());
  EST_EXPECT_OK(graph_.status());
}

}  // namespace
}  // namespace estimator
