// Writes loops and branches as TensorFlow's functional ops: While, If and Case, whose bodies are
// functions in the library of the GraphDef.
//
// An If or Case keeps its outputs. Its branches take all captured tensors, because in TensorFlow
// they have the same arguments.
//
// A While becomes several nodes. The one with its name is an IdentityN with its outputs, so that
// everything that reads an output finds it. The loop itself is `NAME/loop`, and its variables are
// those of TensorFlow's while_v2:
//   loop_counter        i32 [], from 0
//   maximum_iterations  i32 []; -1: no limit
//   the carried tensors
//   a TensorList for each stacked result
//   scanned and captured tensors, which do not change
// A body takes its rows of scanned tensors by GatherV2. A stacked result whose number of rows is
// not known stays a TensorList, of which the loop that reads it takes elements.
// Source: TF 2.15 while_v2.py, cond_v2.py.
#ifndef ESTIMATOR_GRAPHDEF_FUNCTIONAL_NODES_H_
#define ESTIMATOR_GRAPHDEF_FUNCTIONAL_NODES_H_

#include <functional>

#include "estimator/graph/graph.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Appends the NodeDef of a node.
using WriteNodeFn = std::function<void(const Node& node, proto::GraphDef* out)>;

// Appends the nodes of `node`, which has functions, to `out`, and its functions to `library`. The
// name of a function ends with a hash of its caller and contents, so that graphs can be joined.
void WriteFunctionalNode(const Node& node, const WriteNodeFn& write_node, proto::GraphDef* out,
                         proto::FunctionDefLibrary* library);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_FUNCTIONAL_NODES_H_
