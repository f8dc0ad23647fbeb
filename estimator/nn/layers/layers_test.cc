// Layers against numbers of TF 2.15 tf.compat.v1.layers, and their variables' names.
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/conv.h"
#include "estimator/nn/layers/core.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/layers/pooling.h"
#include "estimator/nn/regularizers.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectError;
using testing::ExpectNear;
using testing::Stepper;
using testing::VariableNames;

class Layers : public GraphTest {
 protected:
  // 0, 1, 2, ... as one image of 4 by 4.
  Tensor Image() {
    return Reshape(Constant({0.f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f, 9.f, 10.f, 11.f, 12.f,
                             13.f, 14.f, 15.f}),
                   Shape{1, 4, 4, 1});
  }
  // f32 [4,2]
  Tensor Rows() { return Constant({4, 2}, {1.f, 2.f, 3.f, 5.f, 0.f, -1.f, 4.f, 4.f}); }

  Stepper stepper_{graph_};
};

TEST_F(Layers, TheMnistNetworkHasTensorFlowsVariables) {
  Tensor x = Placeholder(DType::kFloat32, {2, 28, 28, 1});
  x = layers::Conv2D(
      x, {.filters = 32, .kernel_size = {5, 5}, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2, .strides = 2, .padding = Padding::kSame});
  x = layers::Conv2D(
      x, {.filters = 64, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(x, {.pool_size = 2, .strides = 2, .padding = Padding::kSame});
  x = layers::Flatten(x);
  x = layers::Dense(x, {.units = 1024, .activation = Relu});
  x = layers::Dropout(x, {.rate = 0.4, .training = true});
  x = layers::Dense(x, {.units = 10});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(x.shape(), (Shape{2, 10}));
  EXPECT_EQ(
      VariableNames(graph_),
      (std::vector<std::string>{"conv2d/kernel", "conv2d/bias", "conv2d_1/kernel", "conv2d_1/bias",
                                "dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"}));
  EXPECT_EQ(graph_.FindVariable("conv2d/kernel")->shape(), (Shape{5, 5, 1, 32}));
  EXPECT_EQ(graph_.FindVariable("dense/kernel")->shape(), (Shape{3136, 1024}));
  EXPECT_NE(graph_.FindNode("conv2d/Conv2D"), nullptr);
  EXPECT_NE(graph_.FindNode("conv2d/Relu"), nullptr);
  EXPECT_NE(graph_.FindNode("max_pooling2d_1/MaxPool"), nullptr);
  EXPECT_NE(graph_.FindNode("dense/BiasAdd"), nullptr);
  for (const Tensor& gradient : Gradients(ReduceSum(x), graph_.TrainableVariables()))
    EXPECT_TRUE(gradient.valid());
}

TEST_F(Layers, ASecondEntryOfAReusingScopeSharesVariables) {
  const auto tower = [this] {
    const VariableScope scope("tower", {.reuse = Reuse::kAuto});
    return layers::Dense(layers::Dense(Rows(), {.units = 2}), {.units = 3});
  };
  const Tensor a = tower(), b = tower();
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"tower/dense/kernel", "tower/dense/bias",
                                      "tower/dense_1/kernel", "tower/dense_1/bias"}));
  EXPECT_EQ(testing::Doubles(stepper_.Eval(a)), testing::Doubles(stepper_.Eval(b)));
}

// VariableScope("") made `/dense/kernel`, and the current scope could not be opened again.
TEST_F(Layers, LayersAtTheRootShareVariables) {
  const auto layer = [&](const layers::DenseOptions& options) {
    const VariableScope scope(GetVariableScope(), {.reuse = Reuse::kAuto});
    return layers::Dense(Rows(), options);
  };
  layer({.units = 3});
  layer({.units = 3});
  layers::Dense(Rows(), {.units = 2, .name = "tower"});
  layer({.units = 2, .name = "tower"});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"dense/kernel", "dense/bias", "tower/kernel", "tower/bias"}));
}

TEST_F(Layers, AGivenNameUsedTwiceIsAnError) {
  layers::Dense(Rows(), {.units = 2, .name = "head"});
  layers::Dense(Rows(), {.units = 2, .name = "head"});
  ExpectError(graph_, {"head/kernel", "already exists"});
}

TEST_F(Layers, DenseOnRankThreeWorksAlongTheLastAxis) {
  // tf.compat.v1.layers.dense([2,2,2], 3, kernel = 0.5, bias = 1)
  const Tensor y = layers::Dense(Reshape(Rows(), Shape{2, 2, 2}),
                                 {.units = 3,
                                  .kernel_initializer = initializers::Constant(0.5),
                                  .bias_initializer = initializers::Ones()});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  ExpectNear(stepper_.Eval(y), {2.5, 2.5, 2.5, 5, 5, 5, 0.5, 0.5, 0.5, 5, 5, 5});
}

TEST_F(Layers, DenseTakesALambdaOrNoActivation) {
  const DType dtype = DType::kFloat32;
  const Tensor y =
      layers::Dense(Rows(), {.units = 1,
                             .activation = [](const Tensor& x) { return LeakyRelu(x, 0.5f); },
                             .use_bias = false,
                             .kernel_initializer = initializers::Ones()});
  EXPECT_EQ(y.dtype(), dtype);
  ExpectNear(stepper_.Eval(y), {3, 8, -0.5, 8});
  EXPECT_EQ(VariableNames(graph_), std::vector<std::string>{"dense/kernel"});
}

TEST_F(Layers, ConvolutionsOfRampsAndOnes) {
  // tf.compat.v1.layers.conv2d_transpose(ones [1,2,2,1], 1, 3, strides = 2, kernel = 1)
  const Tensor transposed = layers::Conv2DTranspose(
      Ones({1, 2, 2, 1}),
      {.filters = 1, .kernel_size = 3, .strides = 2, .kernel_initializer = initializers::Ones()});
  ExpectNear(stepper_.Eval(transposed),
             {1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 2, 2, 4, 2, 2, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1});
  // separable_conv2d([1,2,4,2], 1, 2, padding = "same", both kernels = 1)
  const Tensor separable = layers::SeparableConv2D(Reshape(Image(), Shape{1, 2, 4, 2}),
                                                   {.filters = 1,
                                                    .kernel_size = 2,
                                                    .padding = Padding::kSame,
                                                    .depthwise_initializer = initializers::Ones(),
                                                    .pointwise_initializer = initializers::Ones()});
  ExpectNear(stepper_.Eval(separable), {44, 60, 76, 42, 38, 46, 54, 29});
  const Tensor depthwise = layers::DepthwiseConv2D(
      Reshape(Image(), Shape{1, 2, 4, 2}),
      {.kernel_size = {2, 4}, .depthwise_initializer = initializers::Ones()});
  ExpectNear(stepper_.Eval(depthwise),
             {56, 64});  // sums of the even and of the odd numbers below 16
  EXPECT_EQ(
      VariableNames(graph_),
      (std::vector<std::string>{"conv2d_transpose/kernel", "conv2d_transpose/bias",
                                "separable_conv2d/depthwise_kernel",
                                "separable_conv2d/pointwise_kernel", "separable_conv2d/bias",
                                "depthwise_conv2d/depthwise_kernel", "depthwise_conv2d/bias"}));
}

TEST_F(Layers, PoolingOfARamp) {
  ExpectNear(stepper_.Eval(layers::MaxPooling2D(Image(), {.pool_size = 2})), {5, 7, 13, 15});
  ExpectNear(stepper_.Eval(layers::AveragePooling2D(Image(), {.pool_size = 3, .strides = 1})),
             {5, 6, 9, 10});
  ExpectNear(stepper_.Eval(layers::GlobalAveragePooling2D(Image())), {7.5});
}

TEST_F(Layers, PoolingTakesPairsAsConv2DDoes) {
  // Rows in steps of 1, columns in steps of 2.
  ExpectNear(stepper_.Eval(layers::MaxPooling2D(Image(), {.pool_size = {2, 1}, .strides = {1, 2}})),
             {4, 6, 8, 10, 12, 14});
  ExpectNear(stepper_.Eval(layers::MaxPooling2D(Image(), {.pool_size = {4, 2}})), {13, 15});
}

TEST_F(Layers, BatchNormalizationFollowsItsBatches) {
  const Tensor fused =
      layers::BatchNormalization(Reshape(Rows(), Shape{2, 2, 1, 2}), {.training = true});
  const Tensor plain = layers::BatchNormalization(Rows(), {.training = true});
  // tf.compat.v1.layers.batch_normalization(training = True), one run of UPDATE_OPS
  const std::vector<double> expected = {-0.6323291, -0.2181971, 0.6323291, 1.0909855,
                                        -1.2646582, -1.5273798, 1.2646582, 0.6545913};
  ExpectNear(stepper_.Eval(fused), expected);
  ExpectNear(stepper_.Eval(plain), expected);
  ASSERT_EQ(graph_.update_ops().size(), 4u);
  stepper_.Run(Group(graph_.update_ops()));
  ExpectNear(stepper_.Value("batch_normalization/moving_mean"), {0.02, 0.025});
  ExpectNear(stepper_.Value("batch_normalization/moving_variance"), {1.0233333, 1.06});
  ExpectNear(stepper_.Value("batch_normalization_1/moving_mean"), {0.02, 0.025});
  ExpectNear(stepper_.Value("batch_normalization_1/moving_variance"), {1.015, 1.0425});
  EXPECT_EQ(graph_.TrainableVariables().size(), 4u);  // two gammas, two betas
}

TEST_F(Layers, BatchNormalizationOutsideOfTrainingReadsTheMovingAverages) {
  const Tensor y = layers::BatchNormalization(
      Rows(), {.epsilon = 0,
               .moving_mean_initializer = initializers::Ones(),
               .moving_variance_initializer = initializers::Constant(4)});
  ExpectNear(stepper_.Eval(y), {0, 0.5, 1, 2, -0.5, -1, 1.5, 1.5});
  EXPECT_TRUE(graph_.update_ops().empty());
}

TEST_F(Layers, BatchNormalizationAppliedTwiceUpdatesTwice) {
  for (int i = 0; i < 2; ++i) {
    const VariableScope scope("shared", {.reuse = Reuse::kAuto});
    layers::BatchNormalization(Rows(), {.momentum = 0.5, .training = true});
  }
  ASSERT_EQ(graph_.update_ops().size(), 2u);
  stepper_.Run(Group(graph_.update_ops()));
  ExpectNear(stepper_.Value("shared/batch_normalization/moving_mean"), {2 * 0.75, 2.5 * 0.75});
}

TEST_F(Layers, BatchNormalizationAppliedTwiceInABranchUpdatesTwice) {
  Cond(
      Constant(true),
      [&] {
        Tensor y;
        for (int i = 0; i < 2; ++i) {
          const VariableScope scope("shared", {.reuse = Reuse::kAuto});
          y = layers::BatchNormalization(Rows(), {.momentum = 0.5, .training = true});
        }
        return y;
      },
      [&] { return Rows(); });
  ASSERT_EQ(graph_.update_ops().size(), 2u);
  stepper_.Run(Group(graph_.update_ops()));
  ExpectNear(stepper_.Value("shared/batch_normalization/moving_mean"), {2 * 0.75, 2.5 * 0.75});
}

TEST_F(Layers, LayerNormMakesRowsOfMeanZeroAndVarianceOne) {
  ExpectNear(stepper_.Eval(layers::LayerNorm(Rows())), {-1, 1, -1, 1, 1, -1, 0, 0});
  EXPECT_EQ(VariableNames(graph_), (std::vector<std::string>{"LayerNorm/beta", "LayerNorm/gamma"}));
}

TEST_F(Layers, DropoutIsTheIdentityOutsideOfTraining) {
  const Tensor x = Rows();
  EXPECT_EQ(layers::Dropout(x, {.rate = 0.4}), x);
  layers::Dropout(x, {.rate = 1.5, .training = true});
  ExpectError(graph_, {"dropout", "1.5"});
}

TEST_F(Layers, EmbeddingLooksUpRows) {
  const Tensor y = layers::Embedding(
      Constant({2, 0}), {.input_dim = 3,
                         .output_dim = 2,
                         .embeddings_initializer =
                             initializers::Constant(Array::Of<float>({3, 2}, {0, 1, 2, 3, 4, 5}))});
  ExpectNear(stepper_.Eval(y), {4, 5, 0, 1});
  EXPECT_EQ(VariableNames(graph_), std::vector<std::string>{"embedding/embeddings"});
}

TEST_F(Layers, RegularizersJoinTheGraphsCollection) {
  layers::Dense(Rows(), {.units = 3,
                         .kernel_initializer = initializers::Constant(2),
                         .bias_initializer = initializers::Constant(-1),
                         .kernel_regularizer = regularizers::L2(0.1),
                         .bias_regularizer = regularizers::L1(0.5)});
  ASSERT_EQ(graph_.regularization_losses().size(), 2u);
  ExpectNear(stepper_.Eval(graph_.regularization_losses()[0]), {0.1 * 6 * 4 / 2});
  ExpectNear(stepper_.Eval(graph_.regularization_losses()[1]), {1.5});
}

TEST_F(Layers, Bfloat16InputKeepsFloat32Weights) {
  const Tensor y = layers::Dense(Ones({2, 3}, DType::kBfloat16), {.units = 2});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(y.dtype(), DType::kBfloat16);
  EXPECT_EQ(graph_.FindVariable("dense/kernel")->dtype(), DType::kFloat32);
}

TEST_F(Layers, MissingUnitsAreNamed) {
  const Tensor y = layers::Dense(layers::Dense(Rows(), {}), {.units = 2});
  EXPECT_FALSE(y.valid());
  ExpectError(graph_, {"dense", "units", "0"});
}

TEST_F(Layers, AWrongRankIsNamed) {
  layers::Conv2D(Rows(), {.filters = 2, .kernel_size = 3});
  ExpectError(graph_, {"conv2d", "f32 [4,2]", "rank 4"});
}

}  // namespace
}  // namespace estimator
