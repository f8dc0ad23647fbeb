// FunctionBody: the FunctionDef of a branch, or of the condition or the body of a loop.
#ifndef ESTIMATOR_GRAPHDEF_FUNCTION_BODY_H_
#define ESTIMATOR_GRAPHDEF_FUNCTION_BODY_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/function.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/functional_nodes.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// The nodes of a FunctionDef. Tensors have the names of a GraphDef ("node:1") until Finish.
class FunctionBody {
 public:
  //   function: the graph whose nodes are written; null: none.
  FunctionBody(const Function* function, const WriteNodeFn& write_node);

  GraphDefBuilder& builder() { return builder_; }
  // A name for a node that the function's graph does not have.
  std::string Fresh(absl::string_view name) { return builder_.UniqueScope(name); }
  // Adds an argument, and returns its name.
  std::string AddArg(proto::DataType type);
  // What reads the placeholder reads `value`.
  void Bind(const Tensor& placeholder, const std::string& value) {
    bound_[placeholder.node()->name()] = value;
  }
  void AddResult(const std::string& value, proto::DataType type);
  // Adds the function to the library, and returns its name.
  //   owner: the node that calls it. TensorFlow's gradients make new functions of these. Their
  //     names follow from the old ones, so two nodes do not share a function.
  std::string Finish(absl::string_view prefix, const Node& owner,
                     proto::FunctionDefLibrary* library);

 private:
  // "node:output:0" for "node:1".
  std::string Resolved(std::string name) const;

  proto::GraphDef nodes_;
  GraphDefBuilder builder_;
  proto::FunctionDef function_;
  std::set<std::string> args_;
  std::map<std::string, std::string> bound_, ops_;
  std::vector<std::string> results_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_FUNCTION_BODY_H_
