// Finds out what of a graph depends on the batch size, by comparing the same model built for three
// sizes.
//
// Shapes are static here, and a served model takes any batch. What differs between the graphs and
// grows linearly with the batch can be written so that TensorFlow computes it: a dimension as
// unknown, the target of a Reshape as -1, any other constant of sizes as slope * batch + intercept.
// The third size proves that the growth is linear. What differs in any other way (1.0 / batch as a
// constant, a loop over the rows in C++) ties the graph to one size: an obstacle.
//
// Three sizes say nothing about a fourth: batch_search.h holds the result against more.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/graph/graph.h"

namespace estimator {

// A constant that depends on the batch size.
struct BatchConstant {
  enum class Kind {
    kReshape,  // the only varying size of a Reshape: element `index` becomes -1
    kAffine,   // whole numbers: slope * batch + intercept, element by element
    kFill,     // of one value everywhere; the dims of its shape are slope * batch + intercept
  };
  Kind kind = Kind::kAffine;
  int64_t index = 0;
  // kReshape: the size of element `index` is (slope * batch + intercept) / divisor, these i64 []:
  // a Reshape to groups of 4 rows divides.
  int64_t divisor = 1;
  Array slope = {}, intercept = {};  // of the constant's dtype; kFill: i32 [rank]
  Array value = {};                  // kFill: a scalar
};

struct BatchAnalysis {
  // Shapes of the outputs of nodes where they depend on the batch, those dimensions unknown.
  std::map<std::string, std::vector<Shape>> output_shapes;
  std::map<std::string, BatchConstant> constants;
  // The dims of a placeholder's shape that follow the batch, as kAffine, i64 [rank].
  std::map<std::string, BatchConstant> placeholders;
  // A placeholder, one of whose dimensions is the batch size; "" if there is none.
  std::string batch_placeholder;
  int batch_axis = 0;
  // What ties the graph to one batch size; empty: nothing does.
  std::vector<std::string> obstacles;

  // Of an output of the graph of the first size.
  Shape ShapeOf(const Tensor& tensor) const;
};

// What is asked of a graph.
struct BatchRoot {
  std::string what;  // "output 'y' of signature 'serving_default'": the same in every graph
  Tensor tensor;
};

struct SizedGraph {
  const Graph* graph = nullptr;
  int64_t batch_size = 0;
  std::vector<BatchRoot> roots = {};  // in the same order for every graph
};

// Compares the nodes that compute the roots: names, ops, inputs, control inputs, attributes, shapes
// and constants. REQUIRES: three graphs of different sizes.
BatchAnalysis AnalyzeBatch(const std::vector<SizedGraph>& graphs);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_ANALYSIS_H_
