// Builds nodes of a GraphDef, with the attributes that TensorFlow's importer requires.
#ifndef ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_
#define ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/graph/tensor.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

inline proto::DataType ProtoType(DType dtype) { return static_cast<proto::DataType>(dtype); }

// "node" or "node:1": how a node of a GraphDef names its input.
std::string TensorName(const Tensor& tensor);

// Attributes that are dtypes.
using DTypeAttrs = std::vector<std::pair<absl::string_view, DType>>;

// A NodeDef that is being filled in. It is valid until the next node is added to its graph.
class NodeDefRef {
 public:
  explicit NodeDefRef(proto::NodeDef* node) : node_(node) {}
  NodeDefRef& Type(absl::string_view attr, DType dtype);
  NodeDefRef& Types(absl::string_view attr, const std::vector<DType>& dtypes);
  NodeDefRef& ProtoTypes(absl::string_view attr, const std::vector<proto::DataType>& types);
  NodeDefRef& Bool(absl::string_view attr, bool value);
  NodeDefRef& Int(absl::string_view attr, int64_t value);
  NodeDefRef& Func(absl::string_view attr, absl::string_view function);
  NodeDefRef& Funcs(absl::string_view attr, const std::vector<std::string>& functions);
  NodeDefRef& Text(absl::string_view attr, absl::string_view value);
  NodeDefRef& ShapeAttr(absl::string_view attr, const Shape& shape);
  NodeDefRef& Shapes(absl::string_view attr, const std::vector<Shape>& shapes);
  const std::string& name() const { return node_->name(); }

 private:
  proto::AttrValue& Attr(absl::string_view name);
  proto::NodeDef* const node_;
};

// Appends nodes to `graph`.
class GraphDefBuilder {
 public:
  explicit GraphDefBuilder(proto::GraphDef* graph);
  // `prefix`, or prefix_1, ...: a scope that no node of the graph has as its name or its parent.
  std::string UniqueScope(absl::string_view prefix);
  // Adds a node. REQUIRES: no node of the graph has this name.
  NodeDefRef Add(absl::string_view name, absl::string_view op,
                 const std::vector<std::string>& inputs, const DTypeAttrs& types = {});
  // Adds a Const node. Returns its name.
  std::string AddConst(absl::string_view name, const Array& value);
  // Adds a StridedSlice, input[begin:end], and the constants name/begin, name/end, name/strides.
  // Returns its name.
  //   whole, shrink: bit masks of axes: those that are taken whole, and those that are removed.
  std::string AddSlice(absl::string_view name, const std::string& input, DType dtype,
                       const Array& begin, const Array& end, int whole, int shrink);

 private:
  proto::GraphDef* const graph_;
  std::set<std::string> names_;
};

// Replaces `node` by a node of another op with the same name. Attributes and inputs are removed.
NodeDefRef ReplaceNode(proto::NodeDef* node, absl::string_view op,
                       const std::vector<std::string>& inputs, const DTypeAttrs& types = {});
void ReplaceByConst(proto::NodeDef* node, const Array& value);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_
