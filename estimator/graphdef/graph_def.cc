#include "estimator/graphdef/graph_def.h"

#include <google/protobuf/text_format.h>

#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/graphdef/functional_nodes.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/graphdef/update_order.h"
#include "estimator/op_def/attr_def.h"
#include "estimator/op_def/op_def.h"
#include "estimator/op_def/update_def.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/recurrent.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/proto/serialize.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kMaxTextConstantBytes = 1024;

//   readers: nodes that must run before this one.
void AddInputs(const Node& node, const std::vector<const Node*>& readers, proto::NodeDef* def) {
  std::vector<std::string> after;  // control inputs, which come last
  std::set<std::string> seen;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Tensor& input = node.input(i);
    const Node& from = *input.node();
    const Node* variable = nullptr;
    // In TensorFlow an update rule takes its variables and returns only the first of them. So both
    // its state inputs and the users of its later outputs refer to the variable.
    if (IsUpdateRule(node) && i < node.num_outputs()) {
      variable = StateVariable(node, i);
    } else if (IsUpdateRule(from) && input.output() > 0) {
      variable = StateVariable(from, input.output());
      if (variable != nullptr) after.push_back(from.name());
    }
    if (variable != nullptr) {
      def->add_input(variable->name());
    } else {
      def->add_input(TensorName(input));
    }
  }
  for (const Node* reader : readers) after.push_back(reader->name());
  for (const Operation& control : node.control_inputs()) after.push_back(control.node()->name());
  // A reader may also be one of the node's own control inputs.
  for (const std::string& name : after) {
    if (seen.insert(name).second) def->add_input(absl::StrCat("^", name));
  }
}

struct AttrWriter {
  proto::AttrValue* out;
  size_t max_constant_bytes;

  void operator()(bool value) const { out->set_b(value); }
  void operator()(int64_t value) const { out->set_i(value); }
  void operator()(float value) const { out->set_f(value); }
  void operator()(const std::string& value) const { out->set_s(value); }
  void operator()(DType value) const { out->set_type(static_cast<proto::DataType>(value)); }
  void operator()(const Shape& value) const { WriteShapeProto(value, out->mutable_shape()); }
  void operator()(const Array& value) const {
    WriteTensorProto(value, value.num_bytes() <= max_constant_bytes, out->mutable_tensor());
  }
  void operator()(const std::vector<int64_t>& values) const {
    out->mutable_list()->mutable_i()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    out->mutable_list()->mutable_f()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    out->mutable_list()->mutable_s()->Add(values.begin(), values.end());
  }
};

AttrValue ImpliedValue(const Node& node, absl::string_view source) {
  if (source == "ins") return int64_t{node.num_inputs()};
  if (source == "ins-1") return int64_t{node.num_inputs() - 1};
  if (source == "outs") return int64_t{node.num_outputs()};
  if (source == "last") return node.input(node.num_inputs() - 1).dtype();
  int index = 0;
  CHECK(absl::SimpleAtoi(source.substr(1), &index)) << source;
  return source[0] == 'i' ? node.input(index).dtype()
                          : node.outputs()[static_cast<size_t>(index)].dtype;
}

// The node's own attributes and the implied ones, which a node of ours need not have. An attribute
// of the node has precedence over an implied one.
Attrs TensorFlowAttrs(const Node& node) {
  const OpDef& row = *FindOpDef(node.op());
  // An op that is written as another one has attributes that the other one lacks.
  Attrs attrs = row.traits.written_as == nullptr ? node.attrs() : Attrs();
  for (const ImpliedAttr& implied : ParseImpliedAttrs(row.attrs, node.num_inputs())) {
    if (!attrs.has(implied.name)) attrs.Set(implied.name, ImpliedValue(node, implied.source));
  }
  return attrs;
}

// Whether the plain ops that compute the node are written: those of each time step of a GRU, which
// TensorFlow lacks, and those of an update rule in a branch. TensorFlow's rule takes a variable,
// and a function has values only.
bool IsWrittenPlain(const Node& node) {
  return node.op() == "_BlockGRU" || node.op() == "_BlockGRUGrad" ||
         (IsUpdateRule(node) && node.input(0).graph()->outer() != nullptr);
}

Tensors PlainResults(const Node& node, const Tensors& operands) {
  if (!IsUpdateRule(node)) return UnrollRecurrent(node.op(), node.attrs(), operands);
  const UpdateDef& def = *FindUpdateOp(node.op());
  return ComputeUpdate(def, operands, !def.flag.empty() && node.attrs().b(def.flag));
}

// The shapes in TensorFlow: an update rule returns only the variable, and an Assign returns it too.
std::vector<Shape> OutputShapes(const Node& node) {
  if (IsAssign(node)) return {node.input(0).shape()};
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : node.outputs()) shapes.push_back(spec.shape);
  if (IsUpdateRule(node) && !IsWrittenPlain(node)) shapes.resize(1);
  return shapes;
}

// A list of the dtypes of the outputs, for IdentityN.
void WriteTypes(const Node& node, proto::NodeDef* out) {
  auto* types = (*out->mutable_attr())["T"].mutable_list();
  for (const TensorSpec& spec : node.outputs())
    types->add_type(static_cast<proto::DataType>(spec.dtype));
}

void MakeGraphDef(const Graph& graph, size_t max_constant_bytes, proto::GraphDef* result);

// Appends the plain ops that compute `node`, below its name, and makes `out` an IdentityN of their
// results: so its readers and its place in the file stay as they are.
void WritePlain(const Node& node, size_t max_constant_bytes, proto::NodeDef* out,
                proto::GraphDef* to) {
  Graph graph;
  const GraphScope scope(graph);
  const std::string prefix =
      absl::StrCat(node.name(), IsUpdateRule(node) ? "/plain/" : "/unrolled/");
  std::map<std::string, std::string> renamed;  // the operands
  Tensors operands;
  for (int i = 0; i < node.num_inputs(); ++i) {
    operands.push_back(Placeholder(node.input(i).dtype(), node.input(i).shape()));
    renamed[operands.back().node()->name()] = out->input(i);
  }
  const auto rename = [&](const std::string& input) {
    const auto found = renamed.find(input);
    return found == renamed.end() ? absl::StrCat(prefix, input) : found->second;
  };
  const Tensors results = PlainResults(node, operands);
  proto::GraphDef plain;
  MakeGraphDef(graph, max_constant_bytes, &plain);
  for (proto::NodeDef& made : *plain.mutable_node()) {
    if (renamed.count(made.name()) > 0) continue;
    made.set_name(prefix + made.name());
    for (std::string& input : *made.mutable_input()) input = rename(input);
    made.mutable_attr()->erase("_output_shapes");  // a batch of any size may be written later
    *to->add_node() = std::move(made);
  }
  out->set_op("IdentityN");
  out->clear_input();
  out->clear_attr();
  for (const Tensor& tensor : results) out->add_input(rename(TensorName(tensor)));
  WriteTypes(node, out);
}

class Writer {
 public:
  Writer(size_t max_constant_bytes, proto::FunctionDefLibrary* library)
      : max_constant_bytes_(max_constant_bytes), library_(library) {}

  //   readers: nodes that must run before this one.
  void Write(const Node& node, const std::vector<const Node*>& readers,
             proto::GraphDef* graph) const {
    if (!node.functions().empty()) {
      const WriteNodeFn write = [this](const Node& inner, proto::GraphDef* body) {
        Write(inner, {}, body);
      };
      WriteFunctionalNode(node, write, graph, library_);
      return;
    }
    proto::NodeDef* out = graph->add_node();
    out->set_name(node.name());
    const char* const name = TraitsOf(node.op()).written_as;
    out->set_op(name == nullptr ? node.op() : name);
    AddInputs(node, readers, out);
    const Attrs attrs = TensorFlowAttrs(node);
    for (const auto& [name, value] : attrs.values()) {
      std::visit(AttrWriter{&(*out->mutable_attr())[name], max_constant_bytes_}, value);
    }
    if (node.op() == "IdentityN") WriteTypes(node, out);
    if (IsWrittenPlain(node)) WritePlain(node, max_constant_bytes_, out, graph);
    const std::vector<Shape> shapes = OutputShapes(node);
    if (shapes.empty()) return;
    auto* list = (*out->mutable_attr())["_output_shapes"].mutable_list();
    for (const Shape& shape : shapes) WriteShapeProto(shape, list->add_shape());
  }

 private:
  const size_t max_constant_bytes_;
  proto::FunctionDefLibrary* const library_;
};

void MakeGraphDef(const Graph& graph, size_t max_constant_bytes, proto::GraphDef* result) {
  result->mutable_versions()->set_producer(kGraphDefProducer);
  result->mutable_versions()->set_min_consumer(kGraphDefMinConsumer);
  proto::FunctionDefLibrary library;
  const Writer writer(max_constant_bytes, &library);
  std::map<const Node*, std::vector<const Node*>> readers = ReadersBeforeUpdates(graph);
  for (const auto& node : graph.nodes()) writer.Write(*node, readers[node.get()], result);
  // A graph without functions has no library.
  if (library.function_size() > 0) *result->mutable_library() = std::move(library);
}

}  // namespace

void WriteGraphDef(const Graph& graph, proto::GraphDef* out) {
  MakeGraphDef(graph, std::numeric_limits<size_t>::max(), out);
}

std::string GraphToGraphDef(const Graph& graph) {
  proto::GraphDef def;
  WriteGraphDef(graph, &def);
  std::string bytes;
  // Sorted, because protobuf does not define the order of the attributes, which are a map.
  CHECK(SerializeSorted(def, &bytes));
  return bytes;
}

std::string GraphToText(const Graph& graph) {
  std::string text;
  proto::GraphDef def;
  MakeGraphDef(graph, kMaxTextConstantBytes, &def);
  CHECK(google::protobuf::TextFormat::PrintToString(def, &text));
  return text;
}

}  // namespace estimator
