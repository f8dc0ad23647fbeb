// Writes a graph as TensorFlow's GraphDef, which TensorBoard shows and TensorFlow imports.
//
// Op names, attributes and node names are TensorFlow's already. What differs is put into
// TensorFlow's form, so that TensorFlow can import the graph and go on training it:
// - An optimizer's update rule (`ApplyMomentum`) reads values here and gives new ones; in
// TensorFlow it takes
//   the variables themselves and changes them. So its state inputs `w/read` are written as `w`, and
//   what uses its output k > 0 uses the variable k, after the rule (`^rule`).
// - Here a step reads variables as they stood when it began; there an update comes after
// (`^reader`) what reads its
//   variable.
// - `Assign` has an output there, the variable.
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

// The GraphDef. `out` is empty before. It may be larger than protobuf can write (kMaxMessageBytes).
void WriteGraphDef(const Graph& graph, proto::GraphDef* out);

// The above, serialized. REQUIRES: its size is below kMaxMessageBytes (graph_size.h): the same
// bytes for the same graph. Every node has its attributes, the implied dtype attributes (`T`), and
// `_output_shapes`; constants are whole.
std::string GraphToGraphDef(const Graph& graph);

// The same as text: graph.pbtxt. Constants of more than 1024 bytes are left out: their dtype and
// shape stand, and TensorFlow reads them as zeros.
std::string GraphToText(const Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_DEF_H_
