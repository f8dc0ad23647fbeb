#include "estimator/nn/match_shapes.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

bool Broadcasts(const Shape& weights, const Shape& values) {
  if (weights.rank() == 0) return true;
  if (weights.rank() != values.rank()) return false;
  for (int i = 0; i < weights.rank(); ++i) {
    if (weights.dim(i) != 1 && weights.dim(i) != values.dim(i)) return false;
  }
  return true;
}

constexpr char kNoLabels[] =
    ": check that the dataset of input_fn returns labels; there are none in prediction";

// The usual cause of each kind of mismatch.
absl::string_view ShapeHint(const Tensor& labels, const Tensor& predictions) {
  if (labels.rank() == 0 || predictions.rank() == 0)
    return ": one of them is a scalar, but both must have a value for each example";
  if (IsInteger(labels.dtype()) && predictions.rank() == labels.rank() + 1) {
    return "; if these are class numbers and logits: pass ArgMax(logits, 1) to a metric of "
           "classes, the class numbers to SparseSoftmaxCrossEntropy, and OneHot(labels, C) to "
           "other losses";
  }
  return "";
}

}  // namespace

LabelsAndPredictions MatchShapes(const Tensor& labels, const Tensor& predictions,
                                 absl::string_view who) {
  Graph& graph = GraphFor({predictions, labels});
  const LabelsAndPredictions invalid = {Tensor(&graph, nullptr, 0), Tensor(&graph, nullptr, 0)};
  if (!labels.valid() || !predictions.valid()) {
    graph.Fail(InvalidArgument(who, ": ", labels.valid() ? "predictions" : "labels",
                               " are not a tensor (a default-constructed handle)",
                               labels.valid() ? "" : kNoLabels));
    return invalid;
  }
  LabelsAndPredictions pair = {labels, predictions};
  if (labels.rank() == predictions.rank() + 1 && labels.dim(-1) == 1)
    pair.labels = Squeeze(labels, {-1});
  if (predictions.rank() == labels.rank() + 1 && predictions.dim(-1) == 1) {
    pair.predictions = Squeeze(predictions, {-1});
  }
  if (pair.labels.shape() == pair.predictions.shape()) return pair;
  graph.Fail(InvalidArgument(who, ": labels are ", labels.spec().ToString(), ", predictions ",
                             predictions.spec().ToString(), "; their shapes must be equal",
                             ShapeHint(labels, predictions)));
  return invalid;
}

Tensor MatchWeights(const Operand& weights, const Tensor& values, absl::string_view who) {
  if (weights.is_number()) return ConstantLike(values, weights.number(), "weights");
  Tensor tensor = weights.tensor();
  if (!tensor.valid()) return tensor;
  if (tensor.rank() == values.rank() + 1 && tensor.dim(-1) == 1) tensor = Squeeze(tensor, {-1});
  if (tensor.rank() > 0 && tensor.rank() + 1 == values.rank()) tensor = ExpandDims(tensor, -1);
  if (!Broadcasts(tensor.shape(), values.shape())) {
    return values.graph()->Fail(InvalidArgument(
        who, ": weights ", weights.tensor().spec().ToString(), " do not broadcast to ",
        values.spec().ToString(), ": give a scalar, or sizes that are 1 or equal"));
  }
  return Cast(tensor, values.dtype());
}

}  // namespace estimator
