#include "estimator/graphdef/functional_nodes.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graphdef/function_body.h"
#include "estimator/graphdef/graph_def_builder.h"

namespace estimator {
namespace {

using Names = std::vector<std::string>;
using ProtoTypes = std::vector<proto::DataType>;

// A stacked result of unknown length is a TensorList.
bool IsList(const TensorSpec& spec) { return spec.shape.rank() > 0 && spec.shape.dim(0) < 0; }
proto::DataType TypeOf(const TensorSpec& spec) {
  return IsList(spec) ? proto::DT_VARIANT : ProtoType(spec.dtype);
}
Shape ShapeOf(const TensorSpec& spec) { return IsList(spec) ? Shape() : spec.shape; }

Array Int(int32_t value) { return Array::Scalar<int32_t>(value); }

// The shape of the elements of a list, as an operand.
Array ElementShape(const TensorSpec& rows) {
  const Shape shape = rows.shape.Row();
  return Array::FromSpan<int64_t>({shape.rank()}, shape.dims()).Cast(DType::kInt32);
}

// Whether TensorFlow must not merge or remove a call: it draws random numbers.
bool IsStateful(const Node& node) {
  for (const std::shared_ptr<Function>& function : node.functions()) {
    if (function == nullptr) continue;
    for (const auto& inner : function->graph().nodes()) {
      const bool stateful = inner->functions().empty()
                                ? inner->rules().stateful && inner->op() != "Placeholder"
                                : IsStateful(*inner);
      if (stateful) return true;
    }
  }
  return false;
}

// Different tensors in the order of their first occurrence.
class TensorSet {
 public:
  size_t Add(const Tensor& tensor) {
    const auto [found, is_new] = index_.emplace(tensor, all_.size());
    if (is_new) all_.push_back(tensor);
    return found->second;
  }
  size_t IndexOf(const Tensor& tensor) const { return index_.at(tensor); }
  const Tensors& all() const { return all_; }

 private:
  Tensors all_;
  std::map<Tensor, size_t> index_;
};

//   args: names of the body, for each of `captures`.
void BindCaptures(const Function& function, const TensorSet& captures, const Names& args,
                  FunctionBody& body) {
  for (size_t k = 0; k < function.captures().size(); ++k)
    body.Bind(function.captured()[k], args[captures.IndexOf(function.captures()[k])]);
}

//   lower: whether TensorFlow replaces the node by Switch, Merge and the like.
void FinishNode(NodeDefRef node, const std::vector<TensorSpec>& outputs, bool lower) {
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : outputs) shapes.push_back(ShapeOf(spec));
  node.Shapes("output_shapes", shapes)
      .Shapes("_output_shapes", shapes)
      .Bool("_lower_using_switch_merge", lower);
}

void WriteBranches(const Node& node, const WriteNodeFn& write_node, proto::GraphDef* out,
                   proto::FunctionDefLibrary* library) {
  TensorSet captures;
  for (const auto& function : node.functions())
    for (const Tensor& tensor : function->captures()) captures.Add(tensor);
  Names inputs = {TensorName(node.input(0))};
  ProtoTypes in, types;
  for (const Tensor& tensor : captures.all()) {
    inputs.push_back(TensorName(tensor));
    in.push_back(TypeOf(tensor.spec()));
  }
  for (const TensorSpec& spec : node.outputs()) types.push_back(TypeOf(spec));
  const bool is_if = node.op() == "If";
  Names functions;
  for (size_t i = 0; i < node.functions().size(); ++i) {
    const Function& function = *node.functions()[i];
    FunctionBody body(&function, write_node);
    Names args;
    for (const proto::DataType type : in) args.push_back(body.AddArg(type));
    BindCaptures(function, captures, args, body);
    for (size_t k = 0; k < types.size(); ++k)
      body.AddResult(TensorName(function.results()[k]), types[k]);
    const std::string prefix =
        is_if ? i == 0 ? "cond_true" : "cond_false" : absl::StrCat("switch_case_branch", i);
    functions.push_back(body.Finish(prefix, node, library));
  }
  const std::string op = absl::StrCat(IsStateful(node) ? "" : "Stateless", node.op());
  GraphDefBuilder builder(out);
  NodeDefRef written = builder.Add(node.name(), op, inputs);
  written.ProtoTypes("Tin", in).ProtoTypes("Tout", types);
  if (is_if) {
    written.Type("Tcond", DType::kBool).Func("then_branch", functions[0]);
    written.Func("else_branch", functions[1]);
  } else {
    written.Funcs("branches", functions);
  }
  // What waits for a lowered If waits for the choice of the branch only. An update would then
  // change a variable in place while the branch still reads it.
  FinishNode(written, node.outputs(), /*lower=*/false);
}

class LoopWriter {
 public:
  LoopWriter(const Node& node, const WriteNodeFn& write_node, proto::GraphDef* out)
      : node_(node),
        write_node_(write_node),
        builder_(out),
        n_(static_cast<size_t>(node.attrs().i("num_carried"))),
        num_scanned_(static_cast<size_t>(node.attrs().i("num_scanned"))),
        capacity_(node.attrs().i("capacity")),
        reverse_(node.attrs().b("reverse")),
        cond_(node.functions()[0].get()),
        body_(*node.functions()[1]) {
    for (size_t k = n_ + 1; k < node.outputs().size(); ++k) stacked_.push_back(node.outputs()[k]);
    for (size_t k = 0; k < num_scanned_; ++k) constant_.Add(Scanned(k));
    for (const Function* function : {cond_, &body_}) {
      if (function == nullptr) continue;
      for (const Tensor& tensor : function->captures()) constant_.Add(tensor);
    }
    const std::optional<Array> trips = ConstantValue(node.input(0));
    const int64_t most = trips.has_value() ? trips->values<int64_t>()[0] : 0;
    limited_ = most <= std::numeric_limits<int32_t>::max();
    capacity_is_trips_ = capacity_ < 0 || (trips.has_value() && most == capacity_);
  }

  void Write(proto::FunctionDefLibrary* library) {
    Names inputs = {builder_.AddConst(Name("loop_counter"), Int(0)), WriteMaximum()};
    specs_ = {{DType::kInt32, {}}, {DType::kInt32, {}}};
    for (size_t k = 0; k < n_; ++k) AddVariable(node_.inputs()[1 + k], inputs);
    for (size_t k = 0; k < stacked_.size(); ++k) {
      inputs.push_back(WriteList(k));
      specs_.push_back({stacked_[k].dtype, stacked_[k].shape.Row().Stacked(-1)});
    }
    for (const Tensor& tensor : constant_.all()) AddVariable(tensor, inputs);
    ProtoTypes types;
    for (const TensorSpec& spec : specs_) types.push_back(TypeOf(spec));

    const std::string cond = WriteCond(types, library), body = WriteBody(types, library);
    const std::string loop = Name("loop");
    NodeDefRef written = builder_.Add(loop, IsStateful(node_) ? "While" : "StatelessWhile", inputs);
    written.ProtoTypes("T", types)
        .Func("cond", cond)
        .Func("body", body)
        .Int("parallel_iterations", 10)
        .Int("_num_original_outputs", static_cast<int64_t>(types.size()));
    FinishNode(written, specs_, /*lower=*/true);
    WriteOutputs(loop);
  }

 private:
  const Tensor& Scanned(size_t k) const { return node_.inputs()[1 + n_ + k]; }
  std::string Name(absl::string_view part) const { return absl::StrCat(node_.name(), "/", part); }
  std::string ListName(size_t k) const { return Name(absl::StrCat("stacked_", k)); }
  // Rows are appended to a list if nothing gives their number before the loop.
  bool Appends() const { return capacity_ < 0 && (cond_ != nullptr || !limited_); }

  void AddVariable(const Tensor& tensor, Names& inputs) {
    inputs.push_back(TensorName(tensor));
    specs_.push_back(tensor.spec());
  }

  std::string WriteMaximum() {
    const std::string name = Name("maximum_iterations");
    if (!limited_) return builder_.AddConst(name, Int(-1));
    builder_.Add(name, "Cast", {TensorName(node_.input(0))},
                 {{"SrcT", DType::kInt64}, {"DstT", DType::kInt32}});
    return name;
  }

  // The empty list of a stacked result.
  std::string WriteList(size_t k) {
    const std::string name = ListName(k);
    const std::string shape =
        builder_.AddConst(absl::StrCat(name, "/element_shape"), ElementShape(stacked_[k]));
    std::string rows = Name("maximum_iterations");
    if (Appends()) {
      rows = builder_.AddConst(absl::StrCat(name, "/max_num_elements"), Int(-1));
    } else if (!capacity_is_trips_) {
      rows = builder_.AddConst(absl::StrCat(name, "/num_elements"),
                               Int(static_cast<int32_t>(capacity_)));
    }
    builder_.Add(name, Appends() ? "EmptyTensorList" : "TensorListReserve", {shape, rows},
                 {{"element_dtype", stacked_[k].dtype}, {"shape_type", DType::kInt32}});
    return name;
  }

  // The arguments of the condition or the body.
  Names AddArgs(const ProtoTypes& types, const Function* function, FunctionBody& body) const {
    Names args;
    for (const proto::DataType type : types) args.push_back(body.AddArg(type));
    if (function == nullptr) return args;
    for (size_t k = 0; k < n_; ++k) body.Bind(function->parameters()[k], args[2 + k]);
    const auto first = static_cast<int64_t>(2 + n_ + stacked_.size());
    BindCaptures(*function, constant_, {args.begin() + first, args.end()}, body);
    return args;
  }

  std::string WriteCond(const ProtoTypes& types, proto::FunctionDefLibrary* library) const {
    FunctionBody body(cond_, write_node_);
    const Names args = AddArgs(types, cond_, body);
    std::string result = cond_ == nullptr ? "" : TensorName(cond_->results()[0]);
    if (limited_) {
      const std::string less = body.Fresh("Less");
      body.builder().Add(less, "Less", {args[0], args[1]}, {{"T", DType::kInt32}});
      if (cond_ == nullptr) {
        result = less;
      } else {
        const std::string both = body.Fresh("LogicalAnd");
        body.builder().Add(both, "LogicalAnd", {less, result});
        result = both;
      }
    } else if (cond_ == nullptr) {
      result = body.builder().AddConst(body.Fresh("Const"), Array::Scalar(true));
    }
    body.AddResult(result, proto::DT_BOOL);
    return body.Finish("while_cond", node_, library);
  }

  std::string WriteBody(const ProtoTypes& types, proto::FunctionDefLibrary* library) const {
    FunctionBody body(&body_, write_node_);
    const Names args = AddArgs(types, &body_, body);
    GraphDefBuilder& builder = body.builder();
    const DTypeAttrs int32 = {{"T", DType::kInt32}};
    const std::string scope = body.Fresh("loop");
    const auto in_scope = [&scope](const auto&... parts) {
      return absl::StrCat(scope, "/", parts...);
    };
    const std::string one = builder.AddConst(in_scope("one"), Int(1));
    builder.Add(in_scope("next"), "AddV2", {args[0], one}, int32);
    std::string row = args[0];
    if (reverse_) {
      builder.Add(in_scope("left"), "Sub", {args[1], in_scope("next")}, int32);
      row = in_scope("left");
    }
    const size_t first_constant = 2 + n_ + stacked_.size();
    for (size_t k = 0; k < num_scanned_; ++k) {
      const Tensor& rows = Scanned(k);
      const std::string& arg = args[first_constant + constant_.IndexOf(rows)];
      const std::string name = in_scope("element_", k);
      if (IsList(rows.spec())) {
        const std::string shape =
            builder.AddConst(absl::StrCat(name, "/element_shape"), ElementShape(rows.spec()));
        builder.Add(name, "TensorListGetItem", {arg, row, shape},
                    {{"element_dtype", rows.dtype()}});
      } else {
        const std::string axis = builder.AddConst(absl::StrCat(name, "/axis"), Int(0));
        builder
            .Add(name, "GatherV2", {arg, row, axis},
                 {{"Tparams", rows.dtype()}, {"Tindices", DType::kInt32}, {"Taxis", DType::kInt32}})
            .Int("batch_dims", 0);
      }
      body.Bind(body_.parameters()[n_ + k], name);
    }

    body.AddResult(in_scope("next"), proto::DT_INT32);
    body.AddResult(args[1], proto::DT_INT32);
    for (size_t k = 0; k < n_; ++k) body.AddResult(TensorName(body_.results()[k]), types[2 + k]);
    for (size_t k = 0; k < stacked_.size(); ++k) {
      const std::string& list = args[2 + n_ + k];
      const std::string name = in_scope("stacked_", k), value = TensorName(body_.results()[n_ + k]);
      const DTypeAttrs dtype = {{"element_dtype", stacked_[k].dtype}};
      if (Appends()) {
        builder.Add(name, "TensorListPushBack", {list, value}, dtype);
      } else {
        builder.Add(name, "TensorListSetItem", {list, row, value}, dtype)
            .Bool("resize_if_index_out_of_bounds", false);
      }
      body.AddResult(name, proto::DT_VARIANT);
    }
    for (size_t k = first_constant; k < args.size(); ++k) body.AddResult(args[k], types[k]);
    return body.Finish("while_body", node_, library);
  }

  // The outputs of the node in their order.
  void WriteOutputs(const std::string& loop) {
    Names outputs;
    for (size_t k = 0; k < n_; ++k) outputs.push_back(absl::StrCat(loop, ":", 2 + k));
    outputs.push_back(Name("trips"));
    builder_.Add(outputs.back(), "Cast", {loop},
                 {{"SrcT", DType::kInt32}, {"DstT", DType::kInt64}});
    for (size_t k = 0; k < stacked_.size(); ++k) {
      outputs.push_back(absl::StrCat(loop, ":", 2 + n_ + k));
      if (IsList(stacked_[k])) continue;
      const std::string name = absl::StrCat(ListName(k), "/TensorListStack");
      builder_
          .Add(name, "TensorListStack",
               {outputs.back(), absl::StrCat(ListName(k), "/element_shape")},
               {{"element_dtype", stacked_[k].dtype}})
          .Int("num_elements", -1);
      outputs.back() = name;
    }
    ProtoTypes types;
    std::vector<Shape> shapes;
    for (const TensorSpec& spec : node_.outputs()) {
      types.push_back(TypeOf(spec));
      shapes.push_back(ShapeOf(spec));
    }
    builder_.Add(node_.name(), "IdentityN", outputs)
        .ProtoTypes("T", types)
        .Shapes("_output_shapes", shapes);
  }

  const Node& node_;
  const WriteNodeFn& write_node_;
  GraphDefBuilder builder_;
  const size_t n_, num_scanned_;
  const int64_t capacity_;
  const bool reverse_;
  const Function* const cond_;
  const Function& body_;
  std::vector<TensorSpec> stacked_;
  TensorSet constant_;  // what does not change in the loop
  bool limited_ = false, capacity_is_trips_ = false;
  std::vector<TensorSpec> specs_;  // of the loop variables
};

}  // namespace

void WriteFunctionalNode(const Node& node, const WriteNodeFn& write_node, proto::GraphDef* out,
                         proto::FunctionDefLibrary* library) {
  if (node.op() == "While") {
    LoopWriter(node, write_node, out).Write(library);
  } else {
    WriteBranches(node, write_node, out, library);
  }
}

}  // namespace estimator
