#include "estimator/graphdef/import/write_rules.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
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

// An optimizer's rule for which in.update says what the operands are. With the operand `indices`,
// the states are whole and `grad` has rows of them; the results are whole.
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

using WriteRuleMap = std::map<std::string, WriteRule>;

// Adds an optimizer's rule for whole variables, and TensorFlow's for rows of them.
//   formula: null: our op of the same name.
void AddUpdate(const UpdateDef& def, WriteFormula formula, WriteRuleMap& rules) {
  WriteRule rule = {.operands = std::string(def.operands),
                    .num_states = def.num_states,
                    .attrs = def.attrs,
                    .formula = formula,
                    .update = &def};
  rules[std::string(def.op)] = rule;
  // Rows of gradient descent are subtracted by ScatterSub.
  if (def.rows == RowUpdates::kAllRows || def.Find("grad") < 0) return;
  rule.operands = absl::StrReplaceAll(def.operands, {{"grad", "grad indices"}});
  rule.formula = UpdateFormula;
  rule.by_rows = true;
  rules[absl::StrCat("Sparse", def.op)] = rule;
}

WriteRuleMap MakeWriteRules() {
  WriteRuleMap rules;
  rules["Assign"] = {.operands = "ref value", .formula = AssignFormula};
  rules["AssignAdd"] = {.operands = "ref value", .formula = AssignAddFormula};
  rules["AssignSub"] = {.operands = "ref value", .formula = AssignSubFormula};
  const auto scatter = [&rules](const char* op, WriteFormula formula, bool by_rows) {
    rules[op] = {.operands = "ref indices updates", .formula = formula, .by_rows = by_rows};
  };
  scatter("ScatterAdd", ScatterAddFormula, true);
  scatter("ScatterSub", ScatterSubFormula, true);
  scatter("ScatterUpdate", ScatterUpdateFormula, true);
  scatter("ScatterNdAdd", ScatterNdAddFormula, false);
  scatter("ScatterNdSub", ScatterNdSubFormula, false);
  scatter("ScatterNdUpdate", ScatterNdUpdateFormula, false);

  for (const UpdateDef& def : UpdateOps()) AddUpdate(def, nullptr, rules);
  for (const UpdateDef& def : ImportedUpdates()) AddUpdate(def, UpdateFormula, rules);

  // Before the aliases below, which keep the name of the op that they stand for.
  for (auto& [op, rule] : rules) rule.op = op;
  // The ops on resource variables have the same operands.
  for (const char* const op : {"Assign", "AssignAdd", "AssignSub"})
    rules[absl::StrCat(op, "VariableOp")] = rules[op];
  return rules;
}

}  // namespace

const WriteRule* FindWriteRule(absl::string_view op) {
  static const WriteRuleMap* const kRules = new WriteRuleMap(MakeWriteRules());
  auto found = kRules->find(std::string(op));
  if (found == kRules->end() && absl::ConsumePrefix(&op, "Resource")) {
    // There is no ResourceAssign.
    if (!absl::StartsWith(op, "Assign")) found = kRules->find(std::string(op));
  }
  return found == kRules->end() ? nullptr : &found->second;
}

}  // namespace estimator
