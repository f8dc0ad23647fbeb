// NodeBuilder: TensorLists.
#include "estimator/base/status.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/tensor_array.h"

namespace estimator {
namespace {

DType ElementType(const proto::NodeDef& def) {
  const proto::AttrValue* const type = FindAttr(def, "element_dtype");
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

}  // namespace

absl::StatusOr<NodeBuilder::List> NodeBuilder::ListOf(FlatTensor at) const {
  const auto found = lists_.find(at);
  if (found != lists_.end()) return found->second;
  return InvalidArgument(nodes_.Where(at.node), " is not a TensorList");
}

absl::StatusOr<Tensor> NodeBuilder::Rows(const List& list, const std::string& name) {
  if (list.rows.valid()) return list.rows;
  if (list.size < 0) return Unimplemented("reads a TensorList that grows outside of its loop");
  if (!list.element.has_value())
    return Unimplemented("takes a TensorList whose elements have no known shape");
  const Tensor rows = Zeros(list.element->Stacked(list.size), list.dtype, name + "/rows");
  if (!list.item.valid()) return rows;
  return Tensor(TensorArray(rows).Write(list.index, list.item, name));
}

absl::StatusOr<NodeBuilder::List> NodeBuilder::SumOfLists(int node) {
  List sum;
  for (const FlatTensor& input : nodes_.node(node).inputs) {
    EST_ASSIGN_OR_RETURN(const List list, ListOf(input));
    if (sum.size < 0) {
      sum = list;
      continue;
    }
    if (list.size != sum.size || list.dtype != sum.dtype)
      return InvalidArgument("adds TensorLists of different types");
    if (!list.rows.valid() && !list.item.valid()) continue;  // zeros
    if (!sum.element.has_value()) sum.element = list.element;
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(sum, NameOf(node)));
    sum = {.size = sum.size, .dtype = sum.dtype, .element = sum.element};
    if (list.item.valid()) {
      // TensorFlow adds a whole list in which one element is not zero.
      sum.rows = TensorScatterAdd(rows, Reshape(list.index, {1, 1}), ExpandDims(list.item, 0));
    } else {
      sum.rows = graph_->AddOp("AddV2", {rows, list.rows}, {}, NameOf(node));
    }
  }
  return sum;
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
  List& result = lists_[{node, 0}];
  const auto no_list = [&](const Tensor& value) {
    lists_.erase({node, 0});
    return std::vector<Tensor>{value};
  };
  if (op == "AddN") {
    EST_ASSIGN_OR_RETURN(const List sum, SumOfLists(node));
    lists_[{node, 0}] = sum;
    return std::vector<Tensor>{Tensor()};
  }
  if (op == "ZerosLike") {
    EST_ASSIGN_OR_RETURN(const List list, ListOf(flat.inputs[0]));
    result = {.size = list.size, .dtype = list.dtype, .element = list.element};
    return std::vector<Tensor>{Tensor()};
  }
  if (op == "EmptyTensorList" || op == "TensorListReserve") {
    EST_RETURN_IF_ERROR(check(2));
    result.dtype = ElementType(*flat.def);
    EST_ASSIGN_OR_RETURN(const Tensor shape, input(0));
    result.element = KnownShape(shape);
    if (op == "EmptyTensorList") return std::vector<Tensor>{Tensor()};
    EST_ASSIGN_OR_RETURN(const Tensor size, input(1));
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ConstantIntsOf(size));
    if (sizes.size() != 1 || sizes[0] < 0) return InvalidArgument("has no size");
    result.size = sizes[0];
    return std::vector<Tensor>{Tensor()};
  }
  if (op == "TensorListFromTensor") {
    EST_RETURN_IF_ERROR(check(2));
    EST_ASSIGN_OR_RETURN(result.rows, input(0));
    if (result.rows.rank() == 0) return InvalidArgument("takes a tensor without rows");
    result.size = result.rows.dim(0);
    result.dtype = result.rows.dtype();
    result.element = result.rows.shape().Row();
    return std::vector<Tensor>{Tensor()};
  }
  if (flat.inputs.empty()) return InvalidArgument("has no inputs");
  EST_ASSIGN_OR_RETURN(const List list, ListOf(flat.inputs[0]));
  if (op == "TensorListSetItem") {
    if (flat.inputs.size() < 3) return check(3);
    if (list.size < 0) return Unimplemented("sets an element of a TensorList that grows");
    EST_ASSIGN_OR_RETURN(const Tensor index, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor item, input(2));
    List changed{.size = list.size, .dtype = list.dtype, .element = item.shape()};
    if (list.rows.valid() || list.item.valid()) {
      EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
      changed.rows = TensorArray(rows).Write(index, item, name);
    } else {
      changed.index = index;
      changed.item = item;
    }
    lists_[{node, 0}] = changed;
    return std::vector<Tensor>{Tensor()};
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
    EST_ASSIGN_OR_RETURN(const Tensor index, input(1));
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
    return no_list(Gather(rows, index, {.name = name}));
  }
  if (op == "TensorListStack") {
    EST_ASSIGN_OR_RETURN(const Tensor rows, Rows(list, name));
    return no_list(rows);
  }
  return Unimplemented("a TensorList that grows or shrinks outside of a loop");
}

}  // namespace estimator
