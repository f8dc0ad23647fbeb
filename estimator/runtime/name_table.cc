#include "estimator/runtime/name_table.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace estimator::ir {
namespace {

// The ops whose first input is a table.
constexpr absl::string_view kTableOps[] = {"GatherV2", "GatherNd", "TensorScatterUpdate",
                                           "TensorScatterAdd"};

// Returns "" if the node has no table.
std::string TableOf(const Module& module, const Node& node) {
  if (node.attrs.has(kTableAttr)) return node.attrs.s(kTableAttr);
  if (std::find(std::begin(kTableOps), std::end(kTableOps), node.op) == std::end(kTableOps))
    return "";
  const Node* table = &module.node(Root(module, node.inputs[0]));
  // A table that is looked up in bf16 is a Cast of its variable.
  while (table->kind == Node::Kind::kOp && table->op == "Cast")
    table = &module.node(Root(module, table->inputs[0]));
  const std::string& name =
      table->kind == Node::Kind::kVariable ? At(module.variables, table->index).name : table->name;
  return absl::StrCat("'", name, "', ", module.spec(node.inputs[0]).ToString());
}

}  // namespace

absl::Status NameTable(const absl::Status& status, const Module& module, const Node& node) {
  if (status.ok()) return status;
  const std::string table = TableOf(module, node);
  if (table.empty()) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), "; the table is ", table));
}

}  // namespace estimator::ir
