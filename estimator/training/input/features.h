// Features and Labels: what input_fn gives, as a model_fn sees it.
#ifndef ESTIMATOR_TRAINING_INPUT_FEATURES_H_
#define ESTIMATOR_TRAINING_INPUT_FEATURES_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"

namespace estimator {

// Tensors by name, in name order. One bare tensor has the name "" and converts to Tensor, so that
// a model_fn may take `const Tensor& labels`.
class TensorMap {
 public:
  TensorMap() = default;
  // `what` ("features", "labels") is for messages.
  TensorMap(Graph* graph, std::string what, std::map<std::string, Tensor> tensors)
      : graph_(graph), what_(std::move(what)), tensors_(std::move(tensors)) {}

  // An unknown name is an error of the graph: it lists the names and the nearest.
  Tensor operator[](absl::string_view name) const;
  bool has(absl::string_view name) const { return tensors_.count(std::string(name)) > 0; }
  bool empty() const { return tensors_.empty(); }
  size_t size() const { return tensors_.size(); }
  // The only tensor; several or none is an error of the graph. Empty labels (prediction) convert to
  // an invalid handle without an error, as None in TensorFlow.
  operator Tensor() const;  // NOLINT: labels are mostly one tensor
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  Graph* graph_ = nullptr;
  std::string what_;
  std::map<std::string, Tensor> tensors_;
};

using Features = TensorMap;
using Labels = TensorMap;

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_FEATURES_H_
