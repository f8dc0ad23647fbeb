#include "estimator/graphdef/graph_def_builder.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {

std::string TensorName(const Tensor& tensor) {
  const std::string& node = tensor.node()->name();
  return tensor.output() == 0 ? node : absl::StrCat(node, ":", tensor.output());
}

proto::AttrValue& NodeDefRef::Attr(absl::string_view name) {
  return (*node_->mutable_attr())[std::string(name)];
}
NodeDefRef& NodeDefRef::Type(absl::string_view attr, DType dtype) {
  Attr(attr).set_type(ProtoType(dtype));
  return *this;
}
NodeDefRef& NodeDefRef::Types(absl::string_view attr, const std::vector<DType>& dtypes) {
  std::vector<proto::DataType> types;
  for (const DType dtype : dtypes) types.push_back(ProtoType(dtype));
  return ProtoTypes(attr, types);
}
NodeDefRef& NodeDefRef::ProtoTypes(absl::string_view attr,
                                   const std::vector<proto::DataType>& types) {
  auto* list = Attr(attr).mutable_list();
  for (const proto::DataType type : types) list->add_type(type);
  return *this;
}
NodeDefRef& NodeDefRef::Bool(absl::string_view attr, bool value) {
  Attr(attr).set_b(value);
  return *this;
}
NodeDefRef& NodeDefRef::Func(absl::string_view attr, absl::string_view function) {
  Attr(attr).mutable_func()->set_name(std::string(function));
  return *this;
}
NodeDefRef& NodeDefRef::Funcs(absl::string_view attr, const std::vector<std::string>& functions) {
  for (const std::string& name : functions) Attr(attr).mutable_list()->add_func()->set_name(name);
  return *this;
}
NodeDefRef& NodeDefRef::Int(absl::string_view attr, int64_t value) {
  Attr(attr).set_i(value);
  return *this;
}
NodeDefRef& NodeDefRef::Text(absl::string_view attr, absl::string_view value) {
  Attr(attr).set_s(std::string(value));
  return *this;
}
NodeDefRef& NodeDefRef::ShapeAttr(absl::string_view attr, const Shape& shape) {
  WriteShapeProto(shape, Attr(attr).mutable_shape());
  return *this;
}
NodeDefRef& NodeDefRef::Shapes(absl::string_view attr, const std::vector<Shape>& shapes) {
  auto* list = Attr(attr).mutable_list();
  for (const Shape& shape : shapes) WriteShapeProto(shape, list->add_shape());
  return *this;
}

GraphDefBuilder::GraphDefBuilder(proto::GraphDef* graph) : graph_(graph) {
  for (const proto::NodeDef& node : graph->node()) names_.insert(node.name());
}

std::string GraphDefBuilder::UniqueScope(absl::string_view prefix) {
  std::string scope(prefix);
  for (int suffix = 1;; ++suffix) {
    // A scope is also taken if only nodes below it exist.
    const auto below = names_.lower_bound(scope + "/");
    if (names_.count(scope) == 0 &&
        (below == names_.end() || !absl::StartsWith(*below, scope + "/")))
      return scope;
    scope = absl::StrCat(prefix, "_", suffix);
  }
}

NodeDefRef GraphDefBuilder::Add(absl::string_view name, absl::string_view op,
                                const std::vector<std::string>& inputs, const DTypeAttrs& types) {
  proto::NodeDef* node = graph_->add_node();
  node->set_name(std::string(name));
  names_.insert(node->name());
  return ReplaceNode(node, op, inputs, types);
}

std::string GraphDefBuilder::AddConst(absl::string_view name, const Array& value) {
  Add(name, "Const", {});
  ReplaceByConst(graph_->mutable_node(graph_->node_size() - 1), value);
  return std::string(name);
}

std::string GraphDefBuilder::AddSlice(absl::string_view name, const std::string& input, DType dtype,
                                      const Array& begin, const Array& end, int whole, int shrink) {
  const auto constant = [&](const char* what, const Array& value) {
    return AddConst(absl::StrCat(name, "/", what), value);
  };
  const std::vector<int64_t> ones(static_cast<size_t>(begin.num_elements()), 1);
  const std::vector<std::string> inputs = {
      input, constant("begin", begin), constant("end", end),
      constant("strides", Array::FromSpan<int64_t>(begin.shape(), ones).Cast(begin.dtype()))};
  Add(name, "StridedSlice", inputs, {{"T", dtype}, {"Index", begin.dtype()}})
      .Int("begin_mask", whole)
      .Int("end_mask", whole)
      .Int("ellipsis_mask", 0)
      .Int("new_axis_mask", 0)
      .Int("shrink_axis_mask", shrink);
  return std::string(name);
}

NodeDefRef ReplaceNode(proto::NodeDef* node, absl::string_view op,
                       const std::vector<std::string>& inputs, const DTypeAttrs& types) {
  node->clear_attr();
  node->clear_input();
  node->set_op(std::string(op));
  for (const std::string& input : inputs) node->add_input(input);
  NodeDefRef made(node);
  for (const auto& [attr, dtype] : types) made.Type(attr, dtype);
  return made;
}

void ReplaceByConst(proto::NodeDef* node, const Array& value) {
  ReplaceNode(node, "Const", {}, {{"dtype", value.dtype()}});
  WriteTensorProto(value, /*contents=*/true, (*node->mutable_attr())["value"].mutable_tensor());
}

}  // namespace estimator
