#include "estimator/graphdef/import/write_formulas.h"

#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// [I...] -> [I..., 1]
Tensor AsRowIndices(const Tensor& indices) { return ExpandDims(indices, -1); }

// `updates` may be a scalar, which is then the update of all elements.
Tensor FullUpdates(const WriteOperands& in) {
  const Tensor& updates = in["updates"];
  if (!updates.valid() || updates.rank() > 0) return updates;
  std::vector<int64_t> dims = in["indices"].shape().dims();
  const Shape& whole = in["ref"].shape();
  for (int i = 1; i < whole.rank(); ++i) dims.push_back(whole.dim(i));
  return BroadcastTo(updates, Shape(dims));
}

std::vector<Tensor> AddRows(const WriteOperands& in, const Tensor& updates) {
  const Tensor& ref = in["ref"];
  const Tensor& indices = in["indices"];
  if (!in.repeated_indices) return {TensorScatterAdd(ref, AsRowIndices(indices), updates)};
  // Each row of the sum is computed once for each repetition, with the same bits.
  return {TensorScatterUpdate(ref, AsRowIndices(indices), Gather(ref, indices) + updates)};
}

}  // namespace

std::vector<Tensor> AssignFormula(const WriteOperands& in) { return {in["value"]}; }
std::vector<Tensor> AssignAddFormula(const WriteOperands& in) { return {in["ref"] + in["value"]}; }
std::vector<Tensor> AssignSubFormula(const WriteOperands& in) { return {in["ref"] - in["value"]}; }

std::vector<Tensor> ScatterAddFormula(const WriteOperands& in) {
  return AddRows(in, FullUpdates(in));
}
std::vector<Tensor> ScatterSubFormula(const WriteOperands& in) {
  return AddRows(in, Negate(FullUpdates(in)));
}
std::vector<Tensor> ScatterUpdateFormula(const WriteOperands& in) {
  return {TensorScatterUpdate(in["ref"], AsRowIndices(in["indices"]), FullUpdates(in))};
}
std::vector<Tensor> ScatterNdAddFormula(const WriteOperands& in) {
  return {TensorScatterAdd(in["ref"], in["indices"], in["updates"])};
}
std::vector<Tensor> ScatterNdSubFormula(const WriteOperands& in) {
  return {TensorScatterAdd(in["ref"], in["indices"], Negate(in["updates"]))};
}
std::vector<Tensor> ScatterNdUpdateFormula(const WriteOperands& in) {
  return {TensorScatterUpdate(in["ref"], in["indices"], in["updates"])};
}

std::vector<Tensor> UpdateFormula(const WriteOperands& in) {
  const UpdateDef& def = *in.update;
  const bool by_rows = in.operands.count("indices") > 0;
  std::vector<Tensor> operands;
  for (int i = 0; i < def.num_operands(); ++i) {
    const Tensor& operand = in[def.operand(i)];
    operands.push_back(by_rows && i < def.num_states ? Gather(operand, in["indices"]) : operand);
  }
  const bool flag = !def.flag.empty() && in.attrs.b(def.flag);
  std::vector<Tensor> next = ComputeUpdate(def, operands, flag);
  for (int i = 0; by_rows && i < def.num_states; ++i) {
    Tensor& state = next[static_cast<size_t>(i)];
    state = TensorScatterUpdate(in[def.operand(i)], AsRowIndices(in["indices"]), state);
  }
  return next;
}

}  // namespace estimator
