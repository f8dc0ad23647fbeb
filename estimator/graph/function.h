// Function: a body that an op runs: a branch of an If or Case, the condition or the body of a
// While.
#ifndef ESTIMATOR_GRAPH_FUNCTION_H_
#define ESTIMATOR_GRAPH_FUNCTION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The body is a graph inside another one (Graph::outer). An op of the body may read a tensor of an
// outer graph: the body then gets a placeholder for it, and the tensor is captured. Variables live
// in the outermost graph, so their values are captured too.
//
// The node of the op owns its functions. Its inputs end with the captured tensors of each function,
// in the order of the functions.
class Function {
 public:
  // Calls `build` with placeholders for `parameters`, inside a new graph whose outer graph is
  // `outer`. Returns null, and `outer` keeps the error, if the body has an error, adds a
  // loss or writes a summary. What it updates is in graph().body_updates().
  //   name: for messages and names of nodes: "body".
  static std::shared_ptr<Function> Build(Graph& outer, StringArg name,
                                         const std::vector<TensorSpec>& parameters,
                                         const std::function<Tensors(const Tensors&)>& build);
  // The same for the gradient of `forward`, a body of the node that is differentiated: the new body
  // also reads tensors of that body, for which `resolve` finds something in the new body or in
  // `outer`. It may call AddParameter.
  using Resolver = std::function<Tensor(Function& function, const Tensor& tensor)>;
  static std::shared_ptr<Function> BuildGradient(
      Graph& outer, Function& forward, const std::vector<TensorSpec>& parameters,
      const Resolver& resolve, const std::function<Tensors(const Tensors&)>& build);
  // A placeholder for one more parameter.
  Tensor AddParameter(const TensorSpec& spec);
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  const Graph& graph() const { return *graph_; }
  Graph& graph() { return *graph_; }
  const std::string& name() const { return name_; }
  const Tensors& parameters() const { return parameters_; }  // placeholders of the body
  // Tensors of the outer graph, and the placeholders that stand for them in the body.
  const Tensors& captures() const { return graph_->captures(); }
  const Tensors& captured() const { return graph_->captured(); }
  // The parameters and then the placeholders of the captures: what a program of the body is fed.
  Tensors inputs() const;
  const Tensors& results() const { return results_; }  // tensors of the body
  // Adds what the body has for `tensor`, which may belong to an outer graph. Call it before the
  // node is made.
  void AddResult(const Tensor& tensor) { results_.push_back(graph_->Inside(tensor)); }

 private:
  friend class Graph;
  Function(StringArg name, std::unique_ptr<Graph> graph);
  // Null if there was an error.
  static std::shared_ptr<Function> Finish(std::shared_ptr<Function> function,
                                          const std::vector<TensorSpec>& parameters,
                                          const std::function<Tensors(const Tensors&)>& build);
  const std::string name_;
  std::unique_ptr<Graph> graph_;
  Tensors parameters_;
  Tensors results_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_FUNCTION_H_
