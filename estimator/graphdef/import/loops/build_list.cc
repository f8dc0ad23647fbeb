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

absl::StatusOr<NodeBuilder::List> NodeBuilder::SumOfLists(int node) {
  List sum;
  for (const FlatTensor& input : nodes_.node(node).inputs) {
    EST_ASSIGN_OR_RETURN(const List list, ListOf(input));
    if (sum.untouched() && (sum.size < 0 || sum.size == list.size)) {
      sum = list;
      continue;
    }
    if (list.size != sum.size || list.dtype != sum.dtype)
      return InvalidArgument("adds TensorLists of different types");
    if (list.untouched()) continue;
    if (!sum.element.has_value()) sum.element = list.element;
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(sum, NameOf(node)));
    sum = {.size = sum.size, .dtype = sum.dtype, .element = sum.element};
    if (list.item.valid()) {
      // TensorFlow adds a whole list in which one element is not zero.
      sum.rows = TensorScatterAdd(rows, Reshape(list.index, {1, 1}), ExpandDims(list.item, 0));
    } else {
      EST_ASSIGN_OR_RETURN(const Tensor others, Rows(list, NameOf(node)));
      sum.rows = graph_->AddOp("AddV2", {rows, others}, {}, NameOf(node));
    }
  }
  return sum;
}

Tensor NodeBuilder::JoinedRows(const Tensor& rows) {
  std::vector<int64_t> dims(rows.shape().dims().begin() + 1, rows.shape().dims().end());
  dims[0] *= rows.dim(0);
  return Reshape(rows, Shape(dims));
}

// A TensorArray: a handle, which nothing reads, and a flow, which is the list.
absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildTensorArray(int node) {
  const FlatNode& flat = nodes_.node(node);
  lists_.erase({node, 0});
  if (flat.inputs.size() != 1) return InvalidArgument("takes 1 input, not ", flat.inputs.size());
  EST_ASSIGN_OR_RETURN(const Tensor size, Value(flat.inputs[0], node));
  const absl::StatusOr<std::vector<int64_t>> sizes = ConstantIntsOf(size);
  if (!sizes.ok()) return Unimplemented("a TensorArray whose size depends on the data");
  if (sizes->size() != 1 || (*sizes)[0] < 0) return InvalidArgument("has no size");
  const proto::AttrValue* const dynamic = FindAttr(*flat.def, "dynamic_size");
  const proto::AttrValue* const shape = FindAttr(*flat.def, "element_shape");
  List& list = lists_[{node, 1}];
  // One that begins empty is appended to.
  const bool grows = dynamic != nullptr && dynamic->b() && (*sizes)[0] == 0;
  list.size = grows ? -1 : (*sizes)[0];
  list.dtype = ElementType(*flat.def, "dtype");
  if (shape != nullptr && !shape->shape().unknown_rank()) {
    const absl::StatusOr<Shape> known = ReadShapeProto(shape->shape());
    if (known.ok() && known->fully_known()) list.element = *known;
  }
  return std::vector<Tensor>{Tensor(), Tensor()};
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildList(int node) {
  const FlatNode& flat = nodes_.node(node);
  const absl::string_view op = flat.op;
  const std::string name = NameOf(node);
  const auto input = [&](size_t k) { return Value(flat.inputs[k], node); };
  const auto check = [&](size_t count) {
    return flat.inputs.size() == count
               ? absl::OkStatus()
               : InvalidArgument("takes ", count, " inputs, not ", flat.inputs.size());
  };
  // What the node returns: a list, which has no tensor, or one.
  const auto is_list = [&](List list) {
    lists_[{node, 0}] = std::move(list);
    return std::vector<Tensor>{Tensor()};
  };
  const auto no_list = [&](const Tensor& value) {
    lists_.erase({node, 0});
    return std::vector<Tensor>{value};
  };
  is_list({});  // also after an error
  if (op == "AddN") {
    EST_ASSIGN_OR_RETURN(const List sum, SumOfLists(node));
    return is_list(sum);
  }
  if (op == "ZerosLike") {
    EST_ASSIGN_OR_RETURN(const List list, ListOf(flat.inputs[0]));
    return is_list({.size = list.size, .dtype = list.dtype, .element = list.element});
  }
  if (op == "TensorArrayV3") return BuildTensorArray(node);
  if (op == "StackV2" || op == "Stack")
    return is_list({.dtype = ElementType(*flat.def, "elem_type")});
  if (op == "EmptyTensorList" || op == "TensorListReserve") {
    EST_RETURN_IF_ERROR(check(2));
    EST_ASSIGN_OR_RETURN(const Tensor shape, input(0));
    List list{.dtype = ElementType(*flat.def), .element = KnownShape(shape)};
    if (op == "EmptyTensorList") return is_list(list);
    EST_ASSIGN_OR_RETURN(const Tensor size, input(1));
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ConstantIntsOf(size));
    if (sizes.size() != 1 || sizes[0] < 0) return InvalidArgument("has no size");
    list.size = sizes[0];
    return is_list(list);
  }
  if (op == "TensorListFromTensor") {
    EST_RETURN_IF_ERROR(check(2));
    EST_ASSIGN_OR_RETURN(const Tensor rows, input(0));
    if (rows.rank() == 0) return InvalidArgument("takes a tensor without rows");
    return is_list(List::OfRows(rows));
  }
  if (flat.inputs.empty()) return InvalidArgument("has no inputs");
  EST_ASSIGN_OR_RETURN(const List list, ListOf(flat.inputs[0]));
  // In a branch that is not taken, an index may be out of range.
  const auto within = [&](const Tensor& index) {
    const bool may_differ = branches_.IsConditional(node) && list.size > 0 &&
                            index.dtype() == DType::kInt32 && index.node()->op() != "Const";
    const auto last = static_cast<int32_t>(list.size - 1);
    return may_differ ? Minimum(Maximum(index, 0), last) : index;
  };
  if (op == "TensorListSetItem") {
    if (flat.inputs.size() < 3) return check(3);
    if (list.size < 0) return Unimplemented("sets an element of a TensorList that grows");
    EST_ASSIGN_OR_RETURN(Tensor index, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor item, input(2));
    index = within(index);
    List changed{.size = list.size, .dtype = list.dtype, .element = item.shape()};
    if (!list.untouched()) {
      EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
      changed.rows = TensorArray(rows).Write(index, item, name);
    } else {
      changed.index = index;
      changed.item = item;
    }
    return is_list(changed);
  }
  if (op == "TensorListLength") {
    if (list.size < 0) return Unimplemented("asks for the length of a TensorList that grows");
    return no_list(Const(Array::Scalar(static_cast<int32_t>(list.size)), name));
  }
  if (op == "TensorListElementShape") {
    if (!list.element.has_value()) return Unimplemented("the shape of the elements is not known");
    const proto::AttrValue* const type = FindAttr(*flat.def, "shape_type");
    const bool wide = type != nullptr && type->type() == proto::DT_INT64;
    const Array dims = Array::FromSpan<int64_t>({list.element->rank()}, list.element->dims());
    return no_list(Const(wide ? dims : dims.Cast(DType::kInt32), name));
  }
  if (op == "TensorListGetItem" || op == "TensorListGather") {
    if (flat.inputs.size() < 2) return check(3);
    EST_ASSIGN_OR_RETURN(Tensor index, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
    index = within(index);
    if (op == "TensorListGather" && IsRange(index, list.size)) return no_list(rows);
    return no_list(Gather(rows, index, {.name = name}));
  }
  if (op == "TensorListScatterIntoExistingList" || op == "TensorArrayScatterV3") {
    if (flat.inputs.size() != 3) return check(3);
    EST_ASSIGN_OR_RETURN(const Tensor values, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor indices, input(2));
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
      EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(from, name));
      const Tensor places = ExpandDims(indices, 1);
      // An element of a TensorArray is written once, or else is a sum of gradients.
      changed.rows = op == "TensorArrayScatterV3" ? TensorScatterAdd(rows, places, values, name)
                                                  : TensorScatterUpdate(rows, places, values, name);
    }
    return is_list(changed);
  }
  if (op == "TensorArraySplitV3") {
    // Elements of one size, as all tensors of a list have here.
    EST_ASSIGN_OR_RETURN(const Tensor values, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor sizes, input(2));
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
    return is_list(List::OfRows(Reshape(values, Shape(dims))));
  }
  if (op == "TensorListConcatV2") {
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
    if (rows.rank() < 2) return InvalidArgument("joins elements without rows");
    const std::vector<int64_t> lengths(static_cast<size_t>(rows.dim(0)), rows.dim(1));
    std::vector<Tensor> outputs = no_list(JoinedRows(rows));
    outputs.push_back(Const(Array::FromSpan<int64_t>({rows.dim(0)}, lengths), name + "/lengths"));
    return outputs;
  }
  if (op == "TensorListStack") {
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
    return no_list(rows);
  }
  return Unimplemented("a TensorList that grows or shrinks outside of a loop");
}

}  // namespace estimator
