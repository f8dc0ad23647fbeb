// Writes a graph as TensorFlow's GraphDef, which TensorBoard shows and TensorFlow imports.
//
// Op names, attributes and node names are TensorFlow's already. Where the graphs differ, a node is
// rewritten in TensorFlow's form, so that TensorFlow can import the graph and continue training it:
// - Here an optimizer's update rule (`ApplyMomentum`) reads values and returns new ones. In
//   TensorFlow it takes the variables and changes them. So its state inputs `w/read` are written as
//   `w`, and a node that uses its output k > 0 uses the variable k, after the rule (`^rule`). In a
//   branch, which is a function of values, its plain ops are written instead.
// - Here a step reads variables as they were when it began. In TensorFlow an update gets control
//   inputs (`^reader`), so that it runs after the nodes that read its variable.
// - In TensorFlow `Assign` has an output, the variable.
// - Loops and branches call functions of the GraphDef's library: see functional_nodes.h.
#ifndef ESTIMATOR_GRAPHDEF_GRAPH_DEF_H_
#define ESTIMATOR_GRAPHDEF_GRAPH_DEF_H_

#include <string>

#include "estimator/graph/graph.h"

namespace estimator {

namespace proto {
class GraphDef;
}  // namespace proto

// On disk: do not change. GRAPH_DEF_VERSION of TF 2.15; older TensorFlows read it too.
inline constexpr int kGraphDefProducer = 1645;
inline constexpr int kGraphDefMinConsumer = 12;

// Writes the GraphDef. REQUIRES: `out` is empty. The result may be larger than protobuf can
// serialize (kMaxMessageBytes).
void WriteGraphDef(const Graph& graph, proto::GraphDef* out);

// The above, serialized; the same graph gives the same bytes. Every node has its attributes, the
// implied dtype attributes (`T`) and `_output_shapes`. Constants are written whole.
// REQUIRES: the size is below kMaxMessageBytes (graph_size.h).
std::string GraphToGraphDef(const Graph& graph);

// The same as text, for graph.pbtxt. Of a constant of more than 1024 bytes only dtype and shape are
// written; TensorFlow reads it as zeros.
std::string GraphToText(const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_DEF_H_
