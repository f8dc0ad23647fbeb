// Features and Labels: the tensors that a model_fn is called with.
#ifndef ESTIMATOR_TRAINING_INPUT_FEATURES_H_
#define ESTIMATOR_TRAINING_INPUT_FEATURES_H_

#include <map>
#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"

namespace estimator {

// Tensors by name, in name order. A single tensor converts to Tensor, so that a model_fn can take
// `const Tensor& labels`. A bare tensor has the name "".
class Features {
 public:
  Features() = default;
  // `what` is "features" or "labels"; error messages use it.
  Features(Graph* graph, std::string what, std::map<std::string, Tensor> tensors)
      : graph_(graph), what_(std::move(what)), tensors_(std::move(tensors)) {}

  // For an unknown name, the graph gets an error that lists the names and the nearest one, and the
  // result is an invalid handle.
  Tensor operator[](StringArg name) const;
  bool has(StringArg name) const { return tensors_.count(std::string(name)) > 0; }
  bool empty() const { return tensors_.empty(); }
  size_t size() const { return tensors_.size(); }
  // The only tensor. If there are several, the graph gets an error. An empty map, as labels are in
  // PREDICT, converts to an invalid handle without an error; TensorFlow passes None there.
  operator Tensor() const;  // NOLINT: labels are mostly one tensor
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  Graph* graph_ = nullptr;
  std::string what_;
  std::map<std::string, Tensor> tensors_;
};

using Labels = Features;

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_FEATURES_H_
