#include "estimator/graphdef/import/rows/branch_rows.h"

#include <map>

#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

// kFactors: values of which a product is made. Of one row, they may be factors of other rows.
enum class Use { kNone, kValues, kFactors, kIndices, kOther };

bool AreValues(Use use) { return use == Use::kValues || use == Use::kFactors; }

Use Both(Use a, Use b) {
  if (AreValues(a) && AreValues(b)) return a == b ? a : Use::kFactors;
  return a == Use::kNone || a == b ? b : b == Use::kNone ? a : Use::kOther;
}

// How a node uses its input k, if its result is used as `result`.
Use UseOf(const FlatNode& node, size_t k, Use result) {
  const absl::string_view op = node.op;
  if (op == "Unique") return Use::kIndices;
  if (op == "L2Loss") return Use::kValues;  // in the norm of all gradients
  if (op == "UnsortedSegmentSum" && k < 2) return k == 0 ? Use::kValues : Use::kIndices;
  const WriteRule* const write = FindWriteRule(op);
  if (write != nullptr && IsOneOf(write->op, {"ScatterAdd", "ScatterSub"}) && k > 0)
    return k == 1 ? Use::kIndices : Use::kValues;
  const bool passes = PassesReference(op) || op == "Cast" || (IsSwitchOp(op) && k == 0) ||
                      (op == "ConcatV2" && k + 1 < node.inputs.size());
  if (passes || (op == "Neg" && AreValues(result))) return result;
  const bool scales = op == "Mul" || (op == "RealDiv" && k == 0);
  return scales && AreValues(result) ? Use::kFactors : Use::kOther;
}

}  // namespace

BranchRows FindBranchRows(const FlatGraph& nodes, const Branches& branches,
                          const std::vector<int>& sorted, const std::vector<bool>& needed,
                          const std::vector<FlatTensor>& results) {
  std::map<FlatTensor, Use> uses;
  const auto use = [&uses](FlatTensor at, Use as) { uses[at] = Both(uses[at], as); };
  for (const FlatTensor& result : results) use(result, Use::kOther);
  BranchRows rows;
  for (auto i = sorted.rbegin(); i != sorted.rend(); ++i) {
    if (!needed[static_cast<size_t>(*i)]) continue;
    const FlatNode& node = nodes.node(*i);
    if (const Branches::Choice* const choice = branches.ChoiceOf(*i)) {
      for (size_t k = 0; k < choice->num_outputs; ++k) {
        const FlatTensor chosen = {*i, static_cast<int>(k)};
        const Use as = uses[chosen];
        if (AreValues(as)) rows.values.insert(chosen);
        if (as == Use::kFactors) rows.factors.insert(chosen);
        if (as == Use::kIndices) rows.indices.insert(chosen);
        for (const size_t first : choice->first) use(node.inputs[first + k], as);
      }
      continue;
    }
    const bool is_switch = IsSwitchOp(node.op);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Use result = is_switch ? Both(uses[{*i, 0}], uses[{*i, 1}])
                                   : uses[{*i, node.op == "IdentityN" ? static_cast<int>(k) : 0}];
      use(node.inputs[k], UseOf(node, k, result));
    }
  }
  std::set<FlatTensor> passed = rows.indices;
  for (const int i : sorted) {
    const FlatNode& node = nodes.node(i);
    for (const FlatTensor& input : node.inputs) {
      if (passed.count(input) == 0) continue;
      if (FindWriteRule(node.op) != nullptr) rows.scatters.insert(i);
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (uses[{i, static_cast<int>(k)}] == Use::kIndices)
          passed.insert({i, static_cast<int>(k)});
    }
  }
  return rows;
}

Tensor WithRows(const Tensor& value, int64_t num_rows, bool zeros) {
  const int64_t more = num_rows - value.dim(0);
  if (zeros) return Concat({value, Zeros(value.shape().Row().Stacked(more), value.dtype())}, 0);
  return Concat({value, BroadcastTo(Slice(value, {0}, {1}), {more})}, 0);
}

}  // namespace estimator
