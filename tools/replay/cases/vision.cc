// Networks for images, as in
// testdata/reference/{bfloat16,residual_network,separable_convolution}.
#include <vector>

#include "absl/strings/match.h"
#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using namespace layers;  // NOLINT: a network reads like its Python twin

Tensor ConvBn(Tensor x, int64_t filters, int64_t size, int64_t strides, bool relu) {
  x = Conv2D(x, {.filters = filters,
                 .kernel_size = size,
                 .strides = strides,
                 .padding = Padding::kSame,
                 .use_bias = false});
  x = BatchNormalization(x, {.momentum = 0.9, .epsilon = 1e-5, .training = true});
  return relu ? Relu(x) : x;
}

Tensor Block(const Tensor& x, int64_t filters, int64_t strides) {
  const Tensor shortcut =
      strides == 1 && x.dim(-1) == filters ? x : ConvBn(x, filters, 1, strides, false);
  Tensor y = ConvBn(x, filters, 3, strides, true);
  y = ConvBn(y, filters, 3, 1, false);
  return Relu(y + shortcut);
}

EstimatorSpec ResidualNetwork(const Features& features, const Tensor& labels) {
  Tensor x = ConvBn(features, 4, 3, 1, true);
  x = MaxPooling2D(x, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
  x = Block(x, 4, 1);
  x = Block(x, 8, 2);
  x = Block(x, 8, 1);
  const Tensor logits = Dense(ReduceMean(x, {1, 2}), {.units = 5});
  Tensor loss = losses::SoftmaxCrossEntropy(OneHot(labels, 5), logits, {.label_smoothing = 0.1});
  std::vector<Tensor> penalties;
  for (const Variable& variable : Graph::Current().TrainableVariables()) {
    if (!absl::StrContains(variable.name(), "batch_normalization"))
      penalties.push_back(L2Loss(variable));
  }
  loss = loss + AddN(penalties) * 1e-3f;
  return EstimatorSpec::Train(loss,
                              train::Momentum(0.02, 0.9, {.use_nesterov = true}).Minimize(loss));
}

// Layers with a bfloat16 input do the same as tf.tpu.bfloat16_scope: weights stay in float32.
EstimatorSpec InBfloat16(const Features& features, const Tensor& labels) {
  Tensor x = Cast(features, DType::kBfloat16);
  x = Conv2D(x, {.filters = 8, .kernel_size = 3, .padding = Padding::kSame, .use_bias = false});
  x = Relu(BatchNormalization(x, {.momentum = 0.9, .training = true}));
  x = Conv2D(x, {.filters = 6,
                 .kernel_size = 3,
                 .strides = 2,
                 .padding = Padding::kSame,
                 .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .strides = 2});
  const Tensor logits = Cast(Dense(Flatten(x), {.units = 4}), DType::kFloat32);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return EstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
}

EstimatorSpec SeparableConvolution(const Features& features, const Tensor& labels) {
  Tensor x = Conv2D(features, {.filters = 6,
                               .kernel_size = 3,
                               .strides = 2,
                               .padding = Padding::kSame,
                               .activation = Relu6});
  x = SeparableConv2D(
      x, {.filters = 8, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu6});
  x = SeparableConv2D(x, {.filters = 8,
                          .kernel_size = 3,
                          .strides = 2,
                          .padding = Padding::kSame,
                          .depth_multiplier = 2,
                          .activation = Elu});
  x = SeparableConv2D(x, {.filters = 6,
                          .kernel_size = 3,
                          .padding = Padding::kSame,
                          .dilation_rate = 2,
                          .activation = Relu,
                          .use_bias = false});
  x = AveragePooling2D(x, {.pool_size = 2, .strides = 2});
  const Tensor loss = losses::SigmoidCrossEntropy(labels, Dense(Flatten(x), {.units = 3}));
  return EstimatorSpec::Train(loss, train::Momentum(0.1, 0.9).Minimize(loss));
}

}  // namespace

Cases VisionCases() {
  return {{"bfloat16", InBfloat16},
          {"residual_network", ResidualNetwork},
          {"separable_convolution", SeparableConvolution}};
}

}  // namespace estimator::replay
