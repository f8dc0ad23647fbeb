#include "tpu/stablehlo/testing/ops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

// `a` beside `b`, as the op `compare` says.
Bits Compared(const Op& op, const Type& type, Bits a, Bits b) {
  const std::string direction = op.Word("comparison_direction");
  const bool total = op.has("compare_type") && op.Word("compare_type") == "TOTALORDER";
  return Bits{total ? CompareInTotalOrder(direction, a, b) : Compare(direction, type, a, b)};
}

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
    Require(in.size() == 2 && in[0]->type == in[1]->type, op, "operands of one type");
    each(2, bools, [&](size_t i) { return Compared(op, type, x(0, i), x(1, i)); });
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
  // The values of the region in their order: the arguments, then the result of each op.
  std::vector<std::string> names = region.arguments;
  std::vector<Type> types = region.types;
  const auto position = [&names](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw Unimplemented("a region that reads ", name);
    return static_cast<size_t>(found - names.begin());
  };
  const Op& last = region.ops.back();
  if (last.operands.size() != 1) throw Unimplemented("a region of several results");
  std::vector<Combiner> steps;
  for (size_t i = 0; i + 1 < region.ops.size(); ++i) {
    const Op& op = region.ops[i];
    if (op.operands.size() != 2 || op.results.size() != 1)
      throw Unimplemented("a region with ", op.name);
    const size_t a = position(op.operands[0]), b = position(op.operands[1]);
    const Type type = types[a];
    if (!(type == types[b] && type == op.operand_types[0]))
      throw InvalidArgument("a region of ", type.ToString(), " and ", types[b].ToString());
    steps.emplace_back([op, type, a, b](const std::vector<Bits>& values) {
      if (op.name == "compare") return Compared(op, type, values.at(a), values.at(b));
      const Bits result = Binary(op.name, type, values.at(a), values.at(b));
      return op.name == "add" && IsFloating(type.dtype) ? result : Rounded(type, result);
    });
    names.push_back(op.results[0]);
    types.push_back(op.result_types.at(0));
  }
  const size_t taken = position(last.operands[0]), num_arguments = region.arguments.size();
  return [steps, taken, num_arguments](std::vector<Bits> values) {
    if (values.size() != num_arguments) throw InvalidArgument("a region takes other arguments");
    for (const Combiner& step : steps) values.push_back(step(values));
    return values.at(taken);
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
