#include "tpu/stablehlo/testing/ops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

std::vector<Tensor> RunElementwise(const Op& op, const Operands& in) {
  const Type& type = in.at(0)->type;
  for (const Tensor* x : in)
    Require(x->type.shape == type.shape, op, "operands of different shapes");
  Tensor out(op.result_types.at(0));
  const auto each = [&](size_t num_operands, const Type& result, auto fn) {
    Require(in.size() == num_operands, op, "the number of operands");
    out = Tensor(result);
    for (size_t i = 0; i < out.elements.size(); ++i) out.elements[i] = fn(i);
  };
  const auto x = [&in](size_t operand, size_t i) { return in[operand]->elements[i]; };
  const Type bools(DType::kBool, type.shape);
  if (op.name == "compare") {
    const std::string direction = op.Word("comparison_direction");
    Require(in.size() == 2 && in[0]->type == in[1]->type, op, "operands of one type");
    each(2, bools, [&](size_t i) { return Bits{Compare(direction, type, x(0, i), x(1, i))}; });
  } else if (op.name == "select") {
    Require(type.dtype == DType::kBool && in.size() == 3 && in[1]->type == in[2]->type, op,
            "a bool and two values of one type");
    each(3, in[1]->type, [&](size_t i) { return x(0, i) != 0 ? x(1, i) : x(2, i); });
  } else if (op.name == "convert") {
    each(1, {out.type.dtype, type.shape, out.type.is_unsigned},
         [&](size_t i) { return Convert(type, out.type, x(0, i)); });
  } else if (op.name == "bitcast_convert") {
    Require(DTypeSize(type.dtype) == DTypeSize(out.type.dtype), op, "types of one size");
    each(1, {out.type.dtype, type.shape, out.type.is_unsigned},
         [&](size_t i) { return FromMemory(out.type, ToMemory(type, x(0, i))); });
  } else if (op.name == "is_finite") {
    each(1, bools, [&](size_t i) { return Unary(op.name, type, x(0, i)); });
  } else if (IsUnary(op.name)) {
    each(1, type, [&](size_t i) { return Unary(op.name, type, x(0, i)); });
  } else {
    Require(in.size() == 2 && in[0]->type == in[1]->type, op, "operands of one type");
    each(2, type, [&](size_t i) { return Rounded(type, Binary(op.name, type, x(0, i), x(1, i))); });
  }
  return {out};
}

bool IsElementwise(const std::string& op) {
  return op == "compare" || op == "select" || op == "convert" || op == "bitcast_convert" ||
         IsUnary(op) || IsBinary(op);
}

}  // namespace

void Require(bool condition, const Op& op, absl::string_view what) {
  if (condition) return;
  std::string operands;
  for (const Type& type : op.operand_types) absl::StrAppend(&operands, " ", type.ToString());
  throw InvalidArgument(op.name, " of", operands, " {", op.attributes, "} needs ", what);
}

std::vector<Tensor> RunTensorOp(const Op& op, const Operands& in) {
  if (IsElementwise(op.name)) return RunElementwise(op, in);
  for (const auto* table : {&MoveOps(), &SumOps()}) {
    const auto found = table->find(op.name);
    if (found != table->end()) return found->second(op, in);
  }
  throw Unimplemented("the interpreter has no ", op.name);
}

Combiner CombinerOf(const Block& region) {
  const auto argument = [&region](const std::string& name) {
    const auto found = std::find(region.arguments.begin(), region.arguments.end(), name);
    if (found == region.arguments.end()) throw Unimplemented("a region that reads ", name);
    return static_cast<size_t>(found - region.arguments.begin());
  };
  const Op& last = region.ops.back();
  if (last.operands.size() != 1) throw Unimplemented("a region of several results");
  if (region.ops.size() == 1) {
    const size_t taken = argument(last.operands[0]);
    return [taken](const std::vector<Bits>& arguments) { return arguments.at(taken); };
  }
  const Op& op = region.ops[0];
  if (region.ops.size() != 2 || op.operands.size() != 2 || op.results != last.operands)
    throw Unimplemented("a region of several ops");
  const size_t a = argument(op.operands[0]), b = argument(op.operands[1]);
  const Type type = region.types[a];
  if (!(type == region.types[b] && type == op.operand_types[0]))
    throw InvalidArgument("a region of ", type.ToString(), " and ", region.types[b].ToString());
  if (op.name == "compare") {
    return [=, direction = op.Word("comparison_direction")](const std::vector<Bits>& arguments) {
      return Bits{Compare(direction, type, arguments.at(a), arguments.at(b))};
    };
  }
  return [=, name = op.name](const std::vector<Bits>& arguments) {
    const Bits result = Binary(name, type, arguments.at(a), arguments.at(b));
    return name == "add" && IsFloating(type.dtype) ? result : Rounded(type, result);
  };
}

int64_t OffsetOf(const Ints& dims, const Ints& index) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) offset = offset * dims[axis] + index[axis];
  return offset;
}

bool IsInside(const Ints& dims, const Ints& index) {
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (index[axis] < 0 || index[axis] >= dims[axis]) return false;
  return true;
}

}  // namespace estimator::tpu::stablehlo::testing
