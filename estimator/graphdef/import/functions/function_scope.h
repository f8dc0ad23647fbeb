// FlatGraph::Scope: the nodes of one call of a function, by their names.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_FUNCTIONS_FUNCTION_SCOPE_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_FUNCTIONS_FUNCTION_SCOPE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// The nodes of the graph, or of one call of a function.
struct FlatGraph::Scope {
  const proto::FunctionDef* function = nullptr;  // null: the graph itself
  const google::protobuf::RepeatedPtrField<proto::NodeDef>* nodes = nullptr;
  Scope* caller = nullptr;
  int call = -1;               // the node of `caller` that makes this call
  int first_arg = 0;           // the input of that node that is the function's first argument
  int depth = 0;               // the number of callers
  int branch = -1;             // the innermost If or Case of whose branches the function is a part
  int side = 0;                // as FlatNode::side
  FlatTensor condition;        // of the call that `branch` is, when something has asked for it
  int loop = -1;               // the innermost loop that runs the function
  std::vector<bool> constant;  // of a function of a loop: the arguments that do not change
  std::map<int, int> args;     // argument -> node of the FlatGraph
  std::string prefix;          // "StatefulPartitionedCall/"
  const NodeIndex* index = nullptr;
  std::map<int, int> flat;  // node of this scope -> node of the FlatGraph
  // Node of this scope, number of its function -> the scope of that function.
  std::map<std::pair<int, size_t>, Scope*> calls;

  std::string Where() const {
    return function == nullptr ? "the graph"
                               : absl::StrCat("function '", function->signature().name(), "'");
  }
};

// The nodes by their names. Errors: INVALID_ARGUMENT if two have the same name.
//   where: what has the nodes, for the message.
absl::StatusOr<std::map<absl::string_view, int>> IndexNodes(
    const google::protobuf::RepeatedPtrField<proto::NodeDef>& nodes, absl::string_view where);

// The error for a name that is not in `index`, with the nearest name that is.
//   what: "node" or "op".
absl::Status NotFoundIn(absl::string_view where, absl::string_view what, absl::string_view name,
                        const std::map<absl::string_view, int>& index);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_FUNCTIONS_FUNCTION_SCOPE_H_
