// Reads TensorFlow's GraphDef into a Graph of ours, to run it: tf.import_graph_def for inference.
//
// It imports only what the fetches need, through the shape rules of the op registry. Control inputs
// are dropped, and with them asserts, prints and updates. CheckNumerics is kept: the fetches
// use its value. Functions (TensorFlow 2's PartitionedCall) are inlined. Shapes are static: the
// caller gives the shapes of the feeds, and what TensorFlow computes from them at run time (Shape,
// StridedSlice, Pack, Reshape) is computed during the import. tf.io.parse_example becomes
// placeholders, which the caller feeds from serialized Examples.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_GRAPH_DEF_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_GRAPH_DEF_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import_variables.h"

namespace estimator {

namespace proto {
class GraphDef;
}  // namespace proto

struct ImportOptions {
  // Tensors of the GraphDef ("x" or "x:0") that become placeholders, with their static specs. They
  // must include all placeholders that the fetches need, except those with a default.
  std::map<std::string, TensorSpec> feeds = {};
  // Tensors of the GraphDef to import: "y", "y:1".
  std::vector<std::string> fetches = {};
  // Tensors of the GraphDef that are replaced by tensors of `graph`.
  std::map<std::string, Tensor> input_map = {};
  // A name scope: "tower" puts the imported nodes under "tower/".
  std::string prefix = "";
  // How to find the names of the variables in a checkpoint. Default: the variables' own names.
  RestoreOps restore = {};
  // The largest size of one constant. A small GraphDef can contain a large constant, because equal
  // elements are stored once.
  int64_t max_constant_bytes = int64_t{1} << 31;
};

// A ParseExample op of the GraphDef. The host parses the serialized Examples instead: feed
// `features` with what ParseSingleExample with `specs` gives for the rows of `serialized`.
struct ImportedParser {
  Tensor serialized;  // string [n]; it is one of ImportedGraph::feeds
  FeatureSpecs specs;
  std::map<std::string, Tensor> features;  // placeholders [n, ...]; only those that are needed
};

struct ImportedGraph {
  std::map<std::string, Tensor> feeds;  // keys as in ImportOptions
  std::vector<Tensor> fetches;          // same order as in ImportOptions
  std::vector<ImportedVariable> variables;
  std::vector<ImportedParser> parsers;
};

// Adds the fetches and what they need to `graph`, which is the current graph meanwhile.
// Errors: UNIMPLEMENTED with a table of everything that the fetches need and that cannot be
// imported: op, reason, count, first node. INVALID_ARGUMENT if the GraphDef is malformed (two nodes
// with one name, an input that does not exist, a cycle), if it lacks a fetch or feed, or if shapes
// do not fit; the graph keeps an error of shapes, as it does when an op is built.
absl::StatusOr<ImportedGraph> ImportGraphDef(const proto::GraphDef& graph_def,
                                             const ImportOptions& options, Graph& graph);
// The same from a serialized GraphDef. Errors: also INVALID_ARGUMENT if it cannot be parsed.
absl::StatusOr<ImportedGraph> ImportSerializedGraphDef(absl::string_view graph_def,
                                                       const ImportOptions& options, Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_GRAPH_DEF_H_
