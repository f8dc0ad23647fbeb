// Node: one op in a graph.
#ifndef ESTIMATOR_GRAPH_NODE_H_
#define ESTIMATOR_GRAPH_NODE_H_

#include <memory>
#include <string>
#include <vector>

#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/tensor.h"

namespace estimator {

class Function;
struct OpRules;

// The graph owns its nodes. A node does not change after it is built, except by
// Graph::ReplaceInputs and Graph::AddStackedResults.
class Node {
 public:
  int id() const { return id_; }  // position in Graph::nodes(); inputs have smaller ids
  const std::string& name() const { return name_; }
  const std::string& op() const { return op_; }
  const OpRules& rules() const { return *rules_; }
  const Attrs& attrs() const { return attrs_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& input(int i) const { return inputs_[static_cast<size_t>(i)]; }
  const std::vector<Operation>& control_inputs() const { return control_inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  // The bodies of a While, an If or a Case (function.h). Null for a condition that a While lacks.
  const std::vector<std::shared_ptr<Function>>& functions() const { return functions_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

 private:
  friend class Graph;
  int id_ = 0;
  std::string name_;
  std::string op_;
  const OpRules* rules_ = nullptr;
  Attrs attrs_;
  std::vector<Tensor> inputs_;
  std::vector<Operation> control_inputs_;
  std::vector<TensorSpec> outputs_;
  std::vector<std::shared_ptr<Function>> functions_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_NODE_H_
