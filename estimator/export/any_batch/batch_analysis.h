// Finds the parts of a graph that depend on the batch size. It compares graphs of the same model,
// built for three sizes.
//
// Shapes are static here, but a served model should take any batch. A part of the graph that is
// linear in the batch size can be written so that TensorFlow computes it:
//   a dimension of a shape    becomes unknown
//   the target of a Reshape   becomes -1
//   any other constant        becomes slope * batch + intercept
// The third size proves that a part is linear. Any other difference is an obstacle: it ties the
// graph to one batch size. Examples are a constant 1.0 / batch, and a loop over the rows in C++.
//
// Three sizes prove nothing about a fourth, so batch_search.h checks the result against more sizes.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "estimator/export/any_batch/batch_constant.h"
#include "estimator/graph/graph.h"

namespace estimator {

struct BatchAnalysis {
  // For nodes with a shape that depends on the batch: the shapes of all outputs, in which
  // dimensions that depend on the batch are unknown.
  std::map<std::string, std::vector<Shape>> output_shapes;
  std::map<std::string, BatchConstant> constants;
  // The shapes of placeholders that depend on the batch, as kAffine, i64 [rank].
  std::map<std::string, BatchConstant> placeholders;
  // A placeholder whose axis `batch_axis` has the batch size; "" if there is none.
  std::string batch_placeholder;
  int batch_axis = 0;
  // What ties the graph to one batch size. Empty if nothing does.
  std::vector<std::string> obstacles;

  // Returns the shape of a tensor of the first size's graph; dimensions that depend on the batch
  // are unknown.
  Shape ShapeOf(const Tensor& tensor) const;
};

// A tensor that the exported graph must compute.
struct BatchRoot {
  std::string what;  // "output 'y' of signature 'serving_default'": the same for all graphs
  Tensor tensor;
  // The initial value of a variable. A checkpoint replaces it.
  bool initial_value = false;
};

struct SizedGraph {
  const Graph* graph = nullptr;
  int64_t batch_size = 0;
  std::vector<BatchRoot> roots = {};  // in the same order for every graph
};

// Compares the nodes that compute the roots: names, ops, inputs, control inputs, attributes, shapes
// and constants.
// REQUIRES: three graphs of different sizes.
BatchAnalysis AnalyzeBatch(const std::vector<SizedGraph>& graphs);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_
