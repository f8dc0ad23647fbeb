// Nodes of a GraphDef made by hand, with the attributes that TensorFlow's importer asks for.
#ifndef ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_
#define ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

inline proto::DataType ProtoType(DType dtype) { return static_cast<proto::DataType>(dtype); }

// A NodeDef being filled in; valid until the next node is added to its graph.
class NodeDefRef {
 public:
  explicit NodeDefRef(proto::NodeDef* node) : node_(node) {}
  NodeDefRef& Type(absl::string_view attr, DType dtype);
  NodeDefRef& Types(absl::string_view attr, const std::vector<DType>& dtypes);
  NodeDefRef& Int(absl::string_view attr, int64_t value);
  NodeDefRef& Text(absl::string_view attr, absl::string_view value);
  NodeDefRef& ShapeAttr(absl::string_view attr, const Shape& shape);
  NodeDefRef& Shapes(absl::string_view attr, const std::vector<Shape>& shapes);
  const std::string& name() const { return node_->name(); }

 private:
  proto::AttrValue& Attr(absl::string_view name);
  proto::NodeDef* const node_;
};

// Appends nodes to `graph` under names that are new in it.
class GraphDefBuilder {
 public:
  explicit GraphDefBuilder(proto::GraphDef* graph);
  // `prefix`, or prefix_1, ...: so that no node of the graph is, or lies under, this name.
  std::string UniqueScope(absl::string_view prefix);
  NodeDefRef Add(absl::string_view name, absl::string_view op,
                 const std::vector<std::string>& inputs);
  // Returns its name.
  std::string AddConst(absl::string_view name, const Array& value);

 private:
  proto::GraphDef* const graph_;
  std::set<std::string> names_;
};

// Makes `node` another one of the same name: attributes and inputs go.
NodeDefRef ReplaceNode(proto::NodeDef* node, absl::string_view op,
                       const std::vector<std::string>& inputs);
void ReplaceByConst(proto::NodeDef* node, const Array& value);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_GRAPH_DEF_BUILDER_H_
