// Loops and branches in a model, as in
// testdata/reference/{cond_optimizers,detector_nms,per_example_gradients}.
#include <functional>
#include <vector>

#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"
#include "tpu/tpu_estimator.h"

namespace estimator::replay {
namespace {

// MapFn or VectorizedMap.
using MapFunction = Tensors (*)(const std::function<Tensors(const Tensors&)>& fn,
                                const Tensors& elems, StringArg name);

EstimatorSpec PerExampleGradients(MapFunction map, const Features& features, const Tensor& labels,
                                  const tpu::Params& params) {
  const Variable w1 = GetVariable("w1", {10, 12}), b1 = GetVariable("b1", {12});
  const Variable w2 = GetVariable("w2", {12, 4}), b2 = GetVariable("b2", {4});
  const std::vector<Variable> weights = {w1, b1, w2, b2};
  const auto example = [&](const Tensors& row) {
    const Tensor hidden = Relu(MatMul(ExpandDims(row[0], 0), w1) + b1);
    const Tensor logits = MatMul(hidden, w2) + b2;
    const Tensor loss = Squeeze(SparseSoftmaxCrossEntropyWithLogits(ExpandDims(row[1], 0), logits));
    Tensors results = {loss};
    for (const Tensor& gradient : ClipByGlobalNorm(Gradients(loss, weights), 1.0).tensors)
      results.push_back(gradient);
    return results;
  };
  const Tensors results = map(example, {features, labels}, "map");
  // The sum over replicas makes a mean of these.
  const auto num_replicas = static_cast<double>(params.context.num_replicas);
  std::vector<train::GradientAndVariable> gradients;
  for (size_t i = 0; i < weights.size(); ++i)
    gradients.push_back({ReduceMean(results[1 + i], {0}) / num_replicas, weights[i]});
  return EstimatorSpec::Train(ReduceMean(results[0]),
                              train::Momentum(0.1, 0.9).ApplyGradients(gradients));
}

Model PerExampleGradientsBy(MapFunction map) {
  return Model(
      [map](const Features& features, const Tensor& labels, Mode, const tpu::Params& params) {
        return PerExampleGradients(map, features, labels, params);
      });
}

EstimatorSpec CondOptimizers(const Features& features, const Tensor& labels) {
  const Tensor hidden = layers::Dense(features, {.units = 12, .activation = Relu});
  const Tensor loss =
      losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(hidden, {.units = 4}));
  train::Adam adam(0.02);
  train::Momentum momentum(0.05, 0.9);
  const Operation train_op = Cond(
      Less(FloorMod(GetOrCreateGlobalStep(), 3), 2), [&] { return adam.Minimize(loss); },
      [&] { return momentum.Minimize(loss); });
  return EstimatorSpec::Train(loss, train_op);
}

constexpr int64_t kGrid = 4, kAnchors = kGrid * kGrid, kBoxes = 6;

// Boxes [16, 4] around the cells of the grid.
Tensor Anchors() {
  Array anchors(DType::kFloat32, {kAnchors, 4});
  for (int64_t i = 0; i < kAnchors; ++i) {
    const double corner[] = {static_cast<double>(i / kGrid) / kGrid - 0.1,
                             static_cast<double>(i % kGrid) / kGrid - 0.1};
    for (int64_t c = 0; c < 4; ++c)
      anchors.data<float>()[4 * i + c] =
          static_cast<float>(c < 2 ? corner[c] : corner[c - 2] + 0.45);
  }
  return Constant(anchors);
}

EstimatorSpec Detector(const Features& features, const Labels& labels) {
  const Tensor hidden = layers::Conv2D(features, {.filters = 6,
                                                  .kernel_size = 3,
                                                  .strides = 2,
                                                  .padding = Padding::kSame,
                                                  .activation = Relu});
  const std::vector<Tensor> head =
      Split(Reshape(layers::Conv2D(hidden, {.filters = 5, .kernel_size = 1}), {-1, kAnchors, 5}),
            std::vector<int64_t>{4, 1}, {.axis = 2});
  const Tensor boxes = Anchors() + 0.2f * Tanh(head[0]);
  const Tensor scores = Squeeze(head[1], {2});
  const Tensor objects = ReduceMean(SigmoidCrossEntropyWithLogits(labels["objects"], scores));
  const Tensor corners =
      ReduceMean(Square(boxes - labels["boxes"]) * ExpandDims(labels["objects"], 2));

  const Tensors chosen = MapFn(
      [](const Tensors& row) {
        const auto [indices, kept_scores, num_valid] = NonMaxSuppressionWithScores(
            row[0], row[1], kBoxes, {.iou_threshold = 0.3, .score_threshold = -0.4});
        return Tensors{indices, num_valid};
      },
      {boxes, StopGradient(scores)});
  const auto of_boxes = [&](const Tensor& params, const char* name) {
    return Gather(params, chosen[0], {.axis = 1, .batch_dims = 1, .name = name});
  };
  const Tensor pixels = of_boxes(Reshape(hidden, {-1, kAnchors, 6}), "pixels");
  const Tensor logits =
      layers::Dense(Concat({of_boxes(boxes, "proposals"), pixels}, 2), {.units = 3});
  const Tensor of_box =
      SparseSoftmaxCrossEntropyWithLogits(of_boxes(labels["classes"], "classes"), logits);
  const Tensor mask = SequenceMask(chosen[1], kBoxes, {.dtype = DType::kFloat32});
  const Tensor loss = objects + corners + ReduceMean(of_box * mask);
  return EstimatorSpec::Train(loss, train::Momentum(0.1, 0.9).Minimize(loss));
}

}  // namespace

Cases LoopCases() {
  return {{"cond_optimizers", CondOptimizers},
          {"detector_nms", Detector},
          {"per_example_gradients", PerExampleGradientsBy(MapFn)}};
}

Model VectorizedPerExampleGradients() { return PerExampleGradientsBy(VectorizedMap); }

}  // namespace estimator::replay
