#include "estimator/graphdef/import/write_rules.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/graphdef/import/write_formulas.h"

namespace estimator {
namespace {

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
