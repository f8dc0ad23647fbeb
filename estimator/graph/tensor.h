// Tensor and Operation: handles to the nodes of a graph. A handle knows dtype and static shape;
// values exist only while a program runs.
#ifndef ESTIMATOR_GRAPH_TENSOR_H_
#define ESTIMATOR_GRAPH_TENSOR_H_

#include <ostream>
#include <string>
#include <vector>

#include "estimator/array/tensor_spec.h"

namespace estimator {

class Graph;
class Node;

// A value that is cheap to copy, valid as long as its graph. An op that fails returns an invalid
// handle that still knows its graph, and every op on an invalid handle returns another one. Model
// code needs no error handling: the graph keeps the first error.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Graph* graph, Node* node, int output) : graph_(graph), node_(node), output_(output) {}

  bool valid() const { return node_ != nullptr; }
  Graph* graph() const { return graph_; }
  Node* node() const { return node_; }  // null when invalid
  int output() const { return output_; }

  // An invalid handle has the spec kInvalid, [].
  const TensorSpec& spec() const;
  DType dtype() const { return spec().dtype; }
  const Shape& shape() const { return spec().shape; }
  int rank() const { return shape().rank(); }
  // The size of an axis. For an axis out of range it returns 1 and the graph keeps the error. For
  // an invalid handle it returns 1 too, so that model code that computes with sizes does not fail
  // before the first error is reported.
  int64_t dim(int axis) const;

  // "dense/BiasAdd:0", or "<invalid>".
  std::string name() const;

  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.node_ == b.node_ && a.output_ == b.output_;
  }
  // An arbitrary order that is the same in every run: by node id, then output.
  friend bool operator<(const Tensor& a, const Tensor& b);

 private:
  Graph* graph_ = nullptr;
  Node* node_ = nullptr;
  int output_ = 0;
};

using Tensors = std::vector<Tensor>;

// A node that is run for its effect: a variable's update, or a group of updates. Minimize returns
// one, and a spec takes one as train_op. Without such a use it never runs, so the compiler warns of
// a call whose Operation is dropped.
class [[nodiscard]] Operation {
 public:
  Operation() = default;
  Operation(Graph* graph, Node* node) : graph_(graph), node_(node) {}

  bool valid() const { return node_ != nullptr; }
  Graph* graph() const { return graph_; }
  Node* node() const { return node_; }
  std::string name() const;

 private:
  Graph* graph_ = nullptr;
  Node* node_ = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_TENSOR_H_
