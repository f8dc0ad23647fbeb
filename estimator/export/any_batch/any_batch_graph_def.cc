#include "estimator/export/any_batch/any_batch_graph_def.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/graphdef/tensor_proto.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The batch size as a scalar node of a dtype. The node is added at the first request.
class BatchSize {
 public:
  BatchSize(const BatchAnalysis& analysis, DType placeholder_dtype, GraphDefBuilder& builder)
      : analysis_(analysis), placeholder_dtype_(placeholder_dtype), builder_(builder) {}

  const std::string& Of(DType dtype) {
    std::string& name = names_[dtype];
    if (!name.empty()) return name;
    // The op Shape returns integers only.
    if (IsFloating(dtype)) {
      const std::string source = Of(DType::kInt32);
      name = builder_.UniqueScope(absl::StrCat("batch_size_", DTypeName(dtype)));
      builder_.Add(name, "Cast", {source}, {{"SrcT", DType::kInt32}, {"DstT", dtype}});
      return name;
    }
    name = builder_.UniqueScope(dtype == DType::kInt64 ? "batch_size_int64" : "batch_size");
    const std::string shape = absl::StrCat(name, "/Shape");
    builder_.Add(shape, "Shape", {analysis_.batch_placeholder},
                 {{"T", placeholder_dtype_}, {"out_type", dtype}});
    const auto bound = [](int32_t value) { return Array::Of<int32_t>({1}, {value}); };
    builder_.AddSlice(name, shape, dtype, bound(analysis_.batch_axis),
                      bound(analysis_.batch_axis + 1), /*whole=*/0, /*shrink=*/1);
    return name;
  }

 private:
  const BatchAnalysis& analysis_;
  const DType placeholder_dtype_;
  GraphDefBuilder& builder_;
  std::map<DType, std::string> names_;
};

// Adds slope * batch, and returns its name and that of the intercept: the operands of an AddV2.
std::vector<std::string> AddTerms(const std::string& name, const BatchConstant& constant,
                                  BatchSize& batch, GraphDefBuilder& builder) {
  const DType dtype = constant.slope.dtype();
  const std::string slope = builder.AddConst(absl::StrCat(name, "/slope"), constant.slope);
  const std::string intercept =
      builder.AddConst(absl::StrCat(name, "/intercept"), constant.intercept);
  const std::string product = absl::StrCat(name, "/mul");
  builder.Add(product, "Mul", {slope, batch.Of(dtype)}, {{"T", dtype}});
  return {product, intercept};
}

// Writes -1 for the varying size of a Reshape's shape.
void WriteMinusOne(int64_t index, proto::NodeDef* node) {
  proto::TensorProto* tensor = (*node->mutable_attr())["value"].mutable_tensor();
  const auto i = static_cast<size_t>(index);
  // WriteTensorProto puts one number into the field of its dtype, and several into the content.
  if (tensor->int_val_size() == 1) {
    tensor->set_int_val(0, -1);
  } else if (tensor->int64_val_size() == 1) {
    tensor->set_int64_val(0, -1);
  } else {
    const size_t size = tensor->dtype() == proto::DT_INT64 ? 8 : 4;
    CHECK_LE((i + 1) * size, tensor->tensor_content().size());
    tensor->mutable_tensor_content()->replace(i * size, size, std::string(size, '\xff'));
  }
}

void WriteShapes(const char* attr, const std::vector<Shape>& shapes, proto::NodeDef* node) {
  // Shapes() appends to the list that an attribute has.
  node->mutable_attr()->erase(attr);
  NodeDefRef(node).Shapes(attr, shapes);
}

// Makes sizes unknown in the attributes and lists of loops and branches
// (graphdef/functional_nodes.h).
void MakeShapesUnknown(const BatchAnalysis& analysis,
                       const std::map<std::string, proto::NodeDef*>& nodes,
                       proto::GraphDef* graph) {
  const auto shape_of = [&analysis](absl::string_view input) -> const Shape* {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(input, absl::MaxSplits(':', 1));
    const auto found = analysis.output_shapes.find(parts.first);
    size_t output = 0;
    if (found == analysis.output_shapes.end()) return nullptr;
    if (!parts.second.empty()) CHECK(absl::SimpleAtoi(parts.second, &output));
    return &found->second[output];
  };
  for (proto::NodeDef& node : *graph->mutable_node()) {
    const auto own = analysis.output_shapes.find(node.name());
    const bool known = own != analysis.output_shapes.end();
    if (known && node.attr().count("output_shapes") > 0) {
      WriteShapes("output_shapes", own->second, &node);
    } else if (absl::EndsWith(node.op(), "While")) {
      for (const char* attr : {"output_shapes", "_output_shapes"}) {
        auto* list = (*node.mutable_attr())[attr].mutable_list();
        for (int i = 0; i < node.input_size() && i < list->shape_size(); ++i) {
          const Shape* const shape = shape_of(node.input(i));
          // A TensorList is a scalar.
          if (shape != nullptr && list->shape(i).dim_size() > 0)
            WriteShapeProto(*shape, &(*list->mutable_shape(i) = proto::TensorShapeProto()));
        }
      }
    } else if (known && node.op() == "IdentityN") {
      for (int i = 0; i < node.input_size(); ++i) {
        absl::string_view list = node.input(i);
        if (!absl::ConsumeSuffix(&list, "/TensorListStack")) continue;
        const auto shape = nodes.find(absl::StrCat(list, "/element_shape"));
        if (shape == nodes.end()) continue;
        const Shape row = own->second[static_cast<size_t>(i)].Row();
        ReplaceByConst(shape->second,
                       Array::FromSpan<int64_t>({row.rank()}, row.dims()).Cast(DType::kInt32));
      }
    }
  }
  // The shapes in the bodies are those of one size.
  for (proto::FunctionDef& function : *graph->mutable_library()->mutable_function())
    for (proto::NodeDef& node : *function.mutable_node_def())
      node.mutable_attr()->erase("_output_shapes");
}

}  // namespace

void MakeAnyBatch(const BatchAnalysis& analysis, proto::GraphDef* graph) {
  CHECK(analysis.obstacles.empty());
  std::map<std::string, proto::NodeDef*> nodes;
  // The pointers stay valid when nodes are added, because a repeated field of messages stores
  // pointers to them.
  for (proto::NodeDef& node : *graph->mutable_node()) nodes[node.name()] = &node;
  for (const auto& [name, shapes] : analysis.output_shapes) {
    const auto found = nodes.find(name);
    if (found == nodes.end()) continue;
    proto::NodeDef& node = *found->second;
    WriteShapes("_output_shapes", shapes, &node);
    if (node.op() != "Placeholder" && node.op() != "EnsureShape") continue;
    node.mutable_attr()->erase("shape");
    NodeDefRef(&node).ShapeAttr("shape", shapes[0]);
  }
  if (graph->has_library()) MakeShapesUnknown(analysis, nodes, graph);
  GraphDefBuilder builder(graph);
  const auto placeholder = nodes.find(analysis.batch_placeholder);
  BatchSize batch(analysis,
                  placeholder == nodes.end()
                      ? DType::kInvalid
                      : static_cast<DType>(placeholder->second->attr().at("dtype").type()),
                  builder);
  for (const auto& [name, constant] : analysis.constants) {
    const auto found = nodes.find(name);
    if (found == nodes.end()) continue;
    proto::NodeDef* node = found->second;
    switch (constant.kind) {
      case BatchConstant::Kind::kReshape:
        WriteMinusOne(constant.index, node);
        break;
      case BatchConstant::Kind::kAffine: {
        const std::vector<std::string> terms = AddTerms(name, constant, batch, builder);
        ReplaceNode(node, "AddV2", terms, {{"T", constant.slope.dtype()}});
        break;
      }
      case BatchConstant::Kind::kFill: {
        const std::vector<std::string> terms = AddTerms(name, constant, batch, builder);
        const std::string dims = absl::StrCat(name, "/dims");
        builder.Add(dims, "AddV2", terms, {{"T", DType::kInt32}});
        const std::string value = builder.AddConst(absl::StrCat(name, "/value"), constant.value);
        ReplaceNode(node, "Fill", {dims, value},
                    {{"T", constant.value.dtype()}, {"index_type", DType::kInt32}});
        break;
      }
    }
  }
}

}  // namespace estimator
