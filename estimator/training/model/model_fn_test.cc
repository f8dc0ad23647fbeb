#include "estimator/training/model/model_fn.h"

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

struct Spec {
  std::string called;  // the names of what the function got
};
struct Params {
  int units = 3;
};
using ModelFn = ModelFnOf<Spec, Params>;

class ModelFnTest : public testing::Test {
 protected:
  std::string Call(const ModelFn& model_fn, bool with_labels = true) {
    const Features features(&graph_, "features", {{"", input_}});
    const Labels labels = with_labels ? Labels(&graph_, "labels", {{"", label_}}) : Labels();
    return model_fn(features, labels, Mode::kEval, {.units = 7}).called;
  }
  std::string Name(const Tensor& tensor) { return tensor.name(); }
  static std::string Name(Mode mode) { return std::string(ModeName(mode)); }
  static std::string Name(const Params& params) { return std::to_string(params.units); }
  template <typename... Args>
  Spec Of(const Args&... args) {
    return {((Name(args) + " ") + ...)};
  }

  Graph graph_;
  const GraphScope scope_{graph_};
  const Tensor input_ = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor label_ = Placeholder(DType::kInt32, {2}, "y");
};

Spec Plain(const Features&, const Labels&, Mode, const Params&) { return {"plain"}; }

TEST_F(ModelFnTest, TakesAFunctionAndALambda) {
  EXPECT_EQ(Call(Plain), "plain");
  int calls = 0;
  EXPECT_EQ(Call([&calls](const Features&, const Labels&, Mode, const Params&) {
              ++calls;
              return Spec{"lambda"};
            }),
            "lambda");
  EXPECT_EQ(calls, 1);
}

TEST_F(ModelFnTest, TakesBareTensors) {
  EXPECT_EQ(Call([this](const Tensor& x, const Tensor& y, Mode mode, const Params& params) {
              return Of(x, y, mode, params);
            }),
            "x:0 y:0 eval 7 ");
}

// As TensorFlow's model_fn.
TEST_F(ModelFnTest, LabelsModeAndParamsMayBeLeftOut) {
  using F = const Features&;
  EXPECT_EQ(Call([&](F, const Tensor& y, Mode mode) { return Of(y, mode); }), "y:0 eval ");
  EXPECT_EQ(Call([&](F, const Tensor& y, const Params& p) { return Of(y, p); }), "y:0 7 ");
  EXPECT_EQ(Call([&](F, const Tensor& y) { return Of(y); }), "y:0 ");
  EXPECT_EQ(Call([&](F f, Mode mode, const Params& p) { return Of(f, mode, p); }, false),
            "x:0 eval 7 ");
  EXPECT_EQ(Call([&](F f, Mode mode) { return Of(f, mode); }, false), "x:0 eval ");
  EXPECT_EQ(Call([&](F f, const Params& p) { return Of(f, p); }, false), "x:0 7 ");
  EXPECT_EQ(Call([&](const Tensor& x) { return Of(x); }, false), "x:0 ");
  EST_EXPECT_OK(graph_.status());
}

TEST_F(ModelFnTest, LabelsThatModelFnDoesNotTakeAreAnError) {
  Call([&](const Features& f, Mode mode) { return Of(f, mode); }, /*with_labels=*/true);
  EXPECT_THAT(graph_.status(),
              ErrorHas("model_fn does not take labels, but input_fn returns labels"));
}

TEST_F(ModelFnTest, IsNullWithoutAFunction) {
  using Pointer = Spec (*)(const Features&, const Labels&, Mode, const Params&);
  EXPECT_FALSE(ModelFn());
  EXPECT_FALSE(ModelFn(nullptr));
  EXPECT_FALSE(ModelFn(Pointer{}));
  EXPECT_FALSE(ModelFn(ModelFn::Fn()));
  EXPECT_TRUE(ModelFn(Plain));
  EXPECT_TRUE(ModelFn(ModelFn(Plain)));
}

}  // namespace
}  // namespace estimator
