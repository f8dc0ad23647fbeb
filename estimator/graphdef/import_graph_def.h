// Reads TensorFlow's GraphDef into a Graph of ours, to run it: tf.import_graph_def for inference.
//
// Only what the fetches need is imported, through the shape rules of the op registry. Control
// inputs are left out, and with them asserts, prints and updates; CheckNumerics, whose value goes
// on, is run. Functions (TensorFlow 2's
// PartitionedCall) are inlined. Shapes are static here: the caller gives the shapes of the feeds,
// and what TensorFlow computes from them while it runs (Shape, StridedSlice, Pack, Reshape) is
// computed while importing. tf.io.parse_example becomes placeholders, which the caller fills from
// serialized Examples.
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
  // Tensors of the GraphDef ("x" or "x:0") that become placeholders, with their static specs. All
  // placeholders that the fetches need must be among them, but those with a default.
  std::map<std::string, TensorSpec> feeds = {};
  // "y", "y:1".
  std::vector<std::string> fetches = {};
  // Tensors of the GraphDef that stand for tensors of the graph that is imported into.
  std::map<std::string, Tensor> input_map = {};
  // "tower" puts the imported nodes under "tower/".
  std::string prefix = "";
  // Where the checkpoint names of the variables are found. Empty: they are the variables' names.
  RestoreOps restore = {};
  // Of one constant; a small message can hold a large one, whose elements are all equal.
  int64_t max_constant_bytes = int64_t{1} << 31;
};

// Serialized Examples, which a ParseExample op of the GraphDef takes, are parsed on the host: for
// the rows of `serialized`, ParseSingleExample with `specs` gives what is fed to `features`.
struct ImportedParser {
  Tensor serialized;  // string [n]; among ImportedGraph::feeds
  FeatureSpecs specs;
  std::map<std::string, Tensor> features;  // placeholders [n, ...], as far as they are needed
};

struct ImportedGraph {
  std::map<std::string, Tensor> feeds;  // by the names in ImportOptions
  std::vector<Tensor> fetches;          // in the order of ImportOptions
  std::vector<ImportedVariable> variables;
  std::vector<ImportedParser> parsers;
};

// Adds to `graph`, which is the current one meanwhile.
// Errors: UNIMPLEMENTED with a table of all that the fetches need and that cannot be imported: op,
// reason, count, first node; INVALID_ARGUMENT for a GraphDef that is not well-formed (a name that
// stands twice, an input that does not exist, a cycle), for a fetch or feed that it lacks, and for
// shapes that do not fit, as the ops say; the graph keeps the latter, as it does when an op is
// built.
absl::StatusOr<ImportedGraph> ImportGraphDef(const proto::GraphDef& graph_def,
                                             const ImportOptions& options, Graph& graph);
// The same from a serialized GraphDef. Errors: INVALID_ARGUMENT if it is none.
absl::StatusOr<ImportedGraph> ImportSerializedGraphDef(absl::string_view graph_def,
                                                       const ImportOptions& options, Graph& graph);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_GRAPH_DEF_H_
