// NodeBuilder: TensorLists.
#include "estimator/base/status.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/tensor_array.h"

namespace estimator {
namespace {

using ListResult = absl::StatusOr<std::vector<Tensor>>;

//   name: of the attribute.
DType ElementType(const proto::NodeDef& def, const char* name = "element_dtype") {
  const proto::AttrValue* const type = FindAttr(def, name);
  return type == nullptr ? DType::kInvalid : ReadDType(type->type());
}

// The shape that a tensor of sizes gives; nullopt if a size is not known.
std::optional<Shape> KnownShape(const Tensor& sizes) {
  const absl::StatusOr<std::vector<int64_t>> dims = ConstantIntsOf(sizes);
  if (!dims.ok() || sizes.rank() != 1) return std::nullopt;
  for (const int64_t dim : *dims)
    if (dim < 0) return std::nullopt;
  return Shape(*dims);
}

// Whether the tensor is 0, 1, ..., size - 1.
bool IsRange(const Tensor& indices, int64_t size) {
  if (indices.rank() != 1 || indices.dim(0) != size) return false;
  const absl::StatusOr<std::vector<int64_t>> values = ConstantIntsOf(indices);
  for (int64_t k = 0; values.ok() && k < size; ++k)
    if ((*values)[static_cast<size_t>(k)] != k) return false;
  return values.ok();
}

}  // namespace

absl::StatusOr<NodeBuilder::List> NodeBuilder::ListOf(FlatTensor at) const {
  const auto found = lists_.find(at);
  if (found != lists_.end()) return found->second;
  return InvalidArgument(nodes_.Where(at.node), " is not a TensorList");
}

absl::StatusOr<Tensor> NodeBuilder::Rows(const List& list, const std::string& name) {
  if (list.inner != nullptr) return Unimplemented("reads a TensorList of TensorLists");
  if (list.rows.valid()) return list.rows;
  if (list.size < 0) return Unimplemented("reads a TensorList that grows outside of its loop");
  if (!list.element.has_value())
    return Unimplemented("takes a TensorList whose elements have no known shape");
  const Shape shape = list.element->Stacked(list.size);
  if (list.same.valid()) return BroadcastTo(ExpandDims(list.same, 0), shape, name + "/rows");
  const Tensor rows = Zeros(shape, list.dtype, name + "/rows");
  if (!list.item.valid()) return rows;
  return Tensor(TensorArray(rows).Write(list.index, list.item, name));
}

Tensor NodeBuilder::JoinedRows(const Tensor& rows) {
  std::vector<int64_t> dims(rows.shape().dims().begin() + 1, rows.shape().dims().end());
  dims[0] *= rows.dim(0);
  return Reshape(rows, Shape(dims));
}

// Builds one node that makes, changes or reads a list.
class NodeBuilder::ListBuilder {
 public:
  ListBuilder(NodeBuilder& builder, int node)
      : b_(builder), node_(node), flat_(builder.nodes_.node(node)), name_(builder.NameOf(node)) {}

  ListResult Build() {
    b_.lists_[{node_, 0}] = {};  // also after an error
    const Rule* const rule = RuleOf(flat_.op);
    if (rule == nullptr)
      return Unimplemented("a TensorList that grows or shrinks outside of a loop");
    if (flat_.inputs.size() < rule->num_inputs)
      return InvalidArgument("takes ", rule->num_inputs, " inputs, not ", flat_.inputs.size());
    return (this->*rule->build)();
  }

 private:
  struct Rule {
    absl::string_view op;
    size_t num_inputs;  // at least; an element's shape that follows them is not read
    ListResult (ListBuilder::*build)();
  };
  static const Rule* RuleOf(absl::string_view op);

  // What makes a list.
  ListResult Empty();
  ListResult Reserve();
  ListResult FromTensor();
  ListResult Stack();
  ListResult TensorArrayV3();
  ListResult ZerosLike();
  ListResult AddN();
  // What changes the list of input 0.
  ListResult SetItem();
  ListResult Scatter();
  ListResult Split();
  // What reads it.
  ListResult Length();
  ListResult ElementShape();
  ListResult GetItem();
  ListResult GatherItems();
  ListResult ConcatItems();
  ListResult StackItems();

  absl::StatusOr<Tensor> Input(size_t k) const { return b_.Value(flat_.inputs[k], node_); }
  absl::StatusOr<List> InputList() const { return b_.ListOf(flat_.inputs[0]); }
  absl::StatusOr<Tensor> InputRows() const {
    EST_ASSIGN_OR_RETURN(const List list, InputList());
    return b_.Rows(list, name_);
  }
  absl::StatusOr<Tensor> Index(const List& list) const;
  absl::StatusOr<int64_t> Size(size_t k) const;
  // A list has no tensor.
  std::vector<Tensor> GivesList(List list) {
    b_.lists_[{node_, 0}] = std::move(list);
    return {Tensor()};
  }
  std::vector<Tensor> GivesTensor(const Tensor& value) {
    b_.lists_.erase({node_, 0});
    return {value};
  }

  NodeBuilder& b_;
  const int node_;
  const FlatNode& flat_;
  const std::string name_;
};

const NodeBuilder::ListBuilder::Rule* NodeBuilder::ListBuilder::RuleOf(absl::string_view op) {
  static constexpr Rule kRules[] = {
      {"AddN", 1, &ListBuilder::AddN},
      {"EmptyTensorList", 2, &ListBuilder::Empty},
      {"Stack", 0, &ListBuilder::Stack},
      {"StackV2", 0, &ListBuilder::Stack},
      {"TensorArrayScatterV3", 3, &ListBuilder::Scatter},
      {"TensorArraySplitV3", 3, &ListBuilder::Split},
      {"TensorArrayV3", 1, &ListBuilder::TensorArrayV3},
      {"TensorListConcatV2", 1, &ListBuilder::ConcatItems},
      {"TensorListElementShape", 1, &ListBuilder::ElementShape},
      {"TensorListFromTensor", 2, &ListBuilder::FromTensor},
      {"TensorListGather", 2, &ListBuilder::GatherItems},
      {"TensorListGetItem", 2, &ListBuilder::GetItem},
      {"TensorListLength", 1, &ListBuilder::Length},
      {"TensorListReserve", 2, &ListBuilder::Reserve},
      {"TensorListScatterIntoExistingList", 3, &ListBuilder::Scatter},
      {"TensorListSetItem", 3, &ListBuilder::SetItem},
      {"TensorListStack", 1, &ListBuilder::StackItems},
      {"ZerosLike", 1, &ListBuilder::ZerosLike},
  };
  for (const Rule& rule : kRules)
    if (rule.op == op) return &rule;
  return nullptr;
}

absl::StatusOr<int64_t> NodeBuilder::ListBuilder::Size(size_t k) const {
  EST_ASSIGN_OR_RETURN(const Tensor size, Input(k));
  const absl::StatusOr<std::vector<int64_t>> sizes = ConstantIntsOf(size);
  if (!sizes.ok())
    return Unimplemented(
        "a list (TensorArray) whose size depends on the data; if a feed decides it, give it by "
        "--feed");
  if (sizes->size() != 1 || (*sizes)[0] < 0) return InvalidArgument("has no size");
  return (*sizes)[0];
}

// Input 1, for the list of input 0.
absl::StatusOr<Tensor> NodeBuilder::ListBuilder::Index(const List& list) const {
  EST_ASSIGN_OR_RETURN(const Tensor index, Input(1));
  // In a branch that is not taken, an index may be out of range.
  const bool may_differ = b_.branches_.IsConditional(node_) && list.size > 0 &&
                          index.dtype() == DType::kInt32 && index.node()->op() != "Const";
  const auto last = static_cast<int32_t>(list.size - 1);
  return may_differ ? Minimum(Maximum(index, 0), last) : index;
}

ListResult NodeBuilder::ListBuilder::Empty() {
  EST_ASSIGN_OR_RETURN(const Tensor shape, Input(0));
  return GivesList({.dtype = ElementType(*flat_.def), .element = KnownShape(shape)});
}

ListResult NodeBuilder::ListBuilder::Reserve() {
  EST_ASSIGN_OR_RETURN(const Tensor shape, Input(0));
  EST_ASSIGN_OR_RETURN(const int64_t size, Size(1));
  return GivesList({.size = size, .dtype = ElementType(*flat_.def), .element = KnownShape(shape)});
}

ListResult NodeBuilder::ListBuilder::FromTensor() {
  EST_ASSIGN_OR_RETURN(const Tensor rows, Input(0));
  if (rows.rank() == 0) return InvalidArgument("takes a tensor without rows");
  return GivesList(List::OfRows(rows));
}

ListResult NodeBuilder::ListBuilder::Stack() {
  return GivesList({.dtype = ElementType(*flat_.def, "elem_type")});
}

// A TensorArray: a handle, which nothing reads, and a flow, which is the list.
ListResult NodeBuilder::ListBuilder::TensorArrayV3() {
  b_.lists_.erase({node_, 0});
  EST_ASSIGN_OR_RETURN(const int64_t size, Size(0));
  const proto::AttrValue* const dynamic = FindAttr(*flat_.def, "dynamic_size");
  const proto::AttrValue* const shape = FindAttr(*flat_.def, "element_shape");
  List& list = b_.lists_[{node_, 1}];
  // One that begins empty is appended to.
  const bool grows = dynamic != nullptr && dynamic->b() && size == 0;
  list.size = grows ? -1 : size;
  list.dtype = ElementType(*flat_.def, "dtype");
  if (shape != nullptr && !shape->shape().unknown_rank()) {
    const absl::StatusOr<Shape> known = ReadShapeProto(shape->shape());
    if (known.ok() && known->fully_known()) list.element = *known;
  }
  return std::vector<Tensor>{Tensor(), Tensor()};
}

ListResult NodeBuilder::ListBuilder::ZerosLike() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  return GivesList({.size = list.size, .dtype = list.dtype, .element = list.element});
}

ListResult NodeBuilder::ListBuilder::AddN() {
  List sum;
  for (const FlatTensor& input : flat_.inputs) {
    EST_ASSIGN_OR_RETURN(const List list, b_.ListOf(input));
    if (sum.untouched() && (sum.size < 0 || sum.size == list.size)) {
      sum = list;
      continue;
    }
    if (list.size != sum.size || list.dtype != sum.dtype)
      return InvalidArgument("adds TensorLists of different types");
    if (list.untouched()) continue;
    if (!sum.element.has_value()) sum.element = list.element;
    EST_ASSIGN_OR_RETURN(const Tensor rows, b_.Rows(sum, name_));
    sum = {.size = sum.size, .dtype = sum.dtype, .element = sum.element};
    if (list.item.valid()) {
      // TensorFlow adds a whole list in which one element is not zero.
      sum.rows = TensorScatterAdd(rows, Reshape(list.index, {1, 1}), ExpandDims(list.item, 0));
    } else {
      EST_ASSIGN_OR_RETURN(const Tensor others, b_.Rows(list, name_));
      sum.rows = b_.graph_->AddOp("AddV2", {rows, others}, {}, name_);
    }
  }
  return GivesList(sum);
}

ListResult NodeBuilder::ListBuilder::SetItem() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  if (list.size < 0) return Unimplemented("sets an element of a TensorList that grows");
  EST_ASSIGN_OR_RETURN(const Tensor index, Index(list));
  EST_ASSIGN_OR_RETURN(const Tensor item, Input(2));
  List changed{.size = list.size, .dtype = list.dtype, .element = item.shape()};
  if (!list.untouched()) {
    EST_ASSIGN_OR_RETURN(const Tensor rows, b_.Rows(list, name_));
    changed.rows = TensorArray(rows).Write(index, item, name_);
  } else {
    changed.index = index;
    changed.item = item;
  }
  return GivesList(changed);
}

ListResult NodeBuilder::ListBuilder::Scatter() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  EST_ASSIGN_OR_RETURN(const Tensor values, Input(1));
  EST_ASSIGN_OR_RETURN(const Tensor indices, Input(2));
  if (values.rank() == 0 || indices.rank() != 1)
    return InvalidArgument("takes no indices, or a tensor without rows");
  List changed = {.dtype = values.dtype(), .element = values.shape().Row()};
  changed.size = list.size < 0 ? values.dim(0) : list.size;
  if (list.untouched() && IsRange(indices, changed.size)) {
    changed.rows = values;
  } else {
    List from = list;
    from.size = changed.size;
    if (!from.element.has_value()) from.element = changed.element;
    EST_ASSIGN_OR_RETURN(const Tensor rows, b_.Rows(from, name_));
    const Tensor places = ExpandDims(indices, 1);
    // An element of a TensorArray is written once, or else is a sum of gradients.
    changed.rows = flat_.op == "TensorArrayScatterV3"
                       ? TensorScatterAdd(rows, places, values, name_)
                       : TensorScatterUpdate(rows, places, values, name_);
  }
  return GivesList(changed);
}

// Elements of one size, as all tensors of a list have here.
ListResult NodeBuilder::ListBuilder::Split() {
  EST_RETURN_IF_ERROR(InputList().status());
  EST_ASSIGN_OR_RETURN(const Tensor values, Input(1));
  EST_ASSIGN_OR_RETURN(const Tensor sizes, Input(2));
  const int64_t count = sizes.shape().num_elements();
  if (values.rank() == 0 || count <= 0 || values.dim(0) % count != 0)
    return Unimplemented("splits ", values.spec().ToString(), " into ", count, " elements");
  std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
  dims[0] /= count;
  dims.insert(dims.begin(), count);
  const absl::StatusOr<std::vector<int64_t>> lengths = ConstantIntsOf(sizes);
  for (int64_t k = 0; k < count; ++k)
    if (!lengths.ok() || (*lengths)[static_cast<size_t>(k)] != dims[1])
      return Unimplemented("splits into elements of different sizes");
  return GivesList(List::OfRows(Reshape(values, Shape(dims))));
}

ListResult NodeBuilder::ListBuilder::Length() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  if (list.size < 0) return Unimplemented("asks for the length of a TensorList that grows");
  return GivesTensor(b_.Const(Array::Scalar(static_cast<int32_t>(list.size)), name_));
}

ListResult NodeBuilder::ListBuilder::ElementShape() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  if (!list.element.has_value()) return Unimplemented("the shape of the elements is not known");
  const proto::AttrValue* const type = FindAttr(*flat_.def, "shape_type");
  const bool wide = type != nullptr && type->type() == proto::DT_INT64;
  const Array dims = Array::FromSpan<int64_t>({list.element->rank()}, list.element->dims());
  return GivesTensor(b_.Const(wide ? dims : dims.Cast(DType::kInt32), name_));
}

ListResult NodeBuilder::ListBuilder::GetItem() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  EST_ASSIGN_OR_RETURN(const Tensor index, Index(list));
  EST_ASSIGN_OR_RETURN(const Tensor rows, b_.Rows(list, name_));
  return GivesTensor(Gather(rows, index, {.name = name_}));
}

ListResult NodeBuilder::ListBuilder::GatherItems() {
  EST_ASSIGN_OR_RETURN(const List list, InputList());
  EST_ASSIGN_OR_RETURN(const Tensor indices, Input(1));
  if (!IsRange(indices, list.size)) return GetItem();
  EST_ASSIGN_OR_RETURN(const Tensor rows, InputRows());
  return GivesTensor(rows);
}

ListResult NodeBuilder::ListBuilder::ConcatItems() {
  EST_ASSIGN_OR_RETURN(const Tensor rows, InputRows());
  if (rows.rank() < 2) return InvalidArgument("joins elements without rows");
  const std::vector<int64_t> lengths(static_cast<size_t>(rows.dim(0)), rows.dim(1));
  std::vector<Tensor> outputs = GivesTensor(JoinedRows(rows));
  outputs.push_back(b_.Const(Array::FromSpan<int64_t>({rows.dim(0)}, lengths), name_ + "/lengths"));
  return outputs;
}

ListResult NodeBuilder::ListBuilder::StackItems() {
  EST_ASSIGN_OR_RETURN(const Tensor rows, InputRows());
  return GivesTensor(rows);
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildList(int node) {
  return ListBuilder(*this, node).Build();
}

}  // namespace estimator
