#include "estimator/graphdef/import/unique_rows.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "estimator/graphdef/import/write_rules.h"

namespace estimator {
namespace {

// The number of the operand `name` of a write; -1 if it has none.
int OperandOf(const WriteRule& rule, absl::string_view name) {
  const std::vector<absl::string_view> operands = absl::StrSplit(rule.operands, ' ');
  const auto found = std::find(operands.begin(), operands.end(), name);
  return found == operands.end() ? -1 : static_cast<int>(std::distance(operands.begin(), found));
}

}  // namespace

bool IsByElement(absl::string_view op) {
  static const auto* const kOps = new std::set<absl::string_view>(
      {"Abs",     "Add",          "AddN",      "AddV2",    "Cast",       "ClipByValue",
       "Div",     "DivNoNan",     "Greater",   "Identity", "IdentityN",  "Less",
       "Maximum", "Minimum",      "Mul",       "Neg",      "Pow",        "RealDiv",
       "Rsqrt",   "Select",       "SelectV2",  "Sign",     "Sqrt",       "Square",
       "Sub",     "StopGradient", "ZerosLike", "OnesLike", "Reciprocal", "SquaredDifference"});
  return kOps->count(op) > 0;
}

UniqueRows FindUniqueRows(const FlatGraph& nodes, const VariableOrder& order,
                          const std::vector<bool>& needed) {
  UniqueRows rows;
  const auto origin_of = [&rows](int node) {
    const auto found = rows.origins.find(node);
    return found == rows.origins.end() ? -1 : found->second;
  };
  for (const int i : order.sorted()) {
    if (!needed[static_cast<size_t>(i)]) continue;
    const std::vector<FlatTensor>& inputs = nodes.node(i).inputs;
    const absl::string_view op = nodes.op(i);
    if (op == "Unique") {
      if (inputs.size() == 1 && origin_of(inputs[0].node) < 0) {
        rows.origins[i] = i;
      } else {
        rows.problems[i] = "takes one vector";
      }
      continue;
    }
    int origin = -1;
    bool mixed = false;
    for (const FlatTensor& input : inputs) {
      const int of = origin_of(input.node);
      mixed = mixed || (of >= 0 && origin >= 0 && of != origin);
      origin = std::max(origin, of);
    }
    const WriteRule* const write = FindWriteRule(op);
    const int indices = write == nullptr ? -1 : OperandOf(*write, "indices");
    const bool in_range = indices >= 0 && static_cast<size_t>(indices) < inputs.size();
    if (write != nullptr && write->by_rows && in_range) {
      const int of_indices = origin_of(inputs[static_cast<size_t>(indices)].node);
      if (of_indices >= 0 && !mixed) {
        rows.variables[of_indices] = order.VariableOf(inputs[0]);
        continue;  // the output is the variable
      }
      // A Scatter op defines the result of a repeated row. TensorFlow's SparseApply ops apply their
      // rule once for each repetition, which the import does not do.
      if (origin < 0 && !absl::StartsWith(op, "SparseApply") &&
          !absl::StartsWith(op, "ResourceSparseApply"))
        continue;
      rows.problems[i] = "indices that may repeat; TensorFlow's optimizers make them unique";
      continue;
    }
    // Shapes are static: the number of rows is that of the look-ups here.
    if (origin < 0 || op == "Shape" || op == "Size" || op == "Rank") continue;
    // These two give a row for each unique row, whatever their other operand is.
    const bool sums = op == "UnsortedSegmentSum" && inputs.size() == 3 &&
                      origin_of(inputs[0].node) < 0 && origin_of(inputs[1].node) >= 0;
    const bool looks_up = (op == "GatherV2" || op == "Gather" || op == "ResourceGather") &&
                          inputs.size() >= 2 && origin_of(inputs[0].node) < 0;
    if (mixed || write != nullptr || !(sums || looks_up || IsByElement(op))) {
      rows.problems[i] = "reads the rows of a Unique, whose number is not static";
    } else {
      rows.origins[i] = origin;
    }
  }
  for (const auto& [node, origin] : rows.origins) {
    const auto found = rows.variables.find(origin);
    // Only a write is harmless with repeated rows; another use would count them twice.
    if (node == origin && (found == rows.variables.end() || found->second < 0))
      rows.problems[node] = "its rows are not written to a variable";
  }
  return rows;
}

}  // namespace estimator
