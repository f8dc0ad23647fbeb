#include "estimator/runtime/passes/row_updates.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/runtime/name_table.h"
#include "estimator/runtime/passes/pattern.h"

namespace estimator::ir {
namespace {

bool IsZero(const Array* constant) {
  return constant != nullptr && constant->num_elements() == 1 && constant->AsDouble() == 0;
}

// Whether `gather` reads exactly those rows of `sum` that were added up, by the same ids.
bool GathersItsIds(const Module& module, const Node& gather, const Node& sum) {
  if (!IsOp(gather, "GatherV2")) return false;
  const bool batched = gather.attrs.has("batch_dims") && gather.attrs.i("batch_dims") != 0;
  const Value indices = gather.inputs[1], ids = sum.inputs[1];
  return !batched && IsZero(module.constant(gather.inputs[2])) &&
         Root(module, indices) == Root(module, ids) && module.spec(indices) == module.spec(ids);
}

void SumLookedUpRows(Module& module) {
  const std::vector<std::vector<int>> readers = Readers(module);
  for (size_t n = 0; n < readers.size(); ++n) {
    const Node& sum = module.nodes[n];
    if (!IsOp(sum, "UnsortedSegmentSum") || module.constant(sum.inputs[2]) == nullptr) continue;
    const bool only_rows = std::all_of(readers[n].begin(), readers[n].end(), [&](int r) {
      return r >= 0 && GathersItsIds(module, module.node(r), sum);
    });
    // If one reader needs the dense sum, it is computed in any case.
    if (!only_rows) continue;
    for (const int r : readers[n]) {
      Node& gather = module.node(r);
      auto origin = std::make_shared<Origin>();
      const Value rows = AppendSteps(sum, OwnInputs(sum), *origin)[0];
      origin->outputs = AppendSteps(gather, {rows, {-1, 1}, {-1, 3}}, *origin);
      gather.origin = std::move(origin);
      gather.op = "_SumEqualRows";
      // The new op has no axis and no batch dimensions: GathersItsIds has checked that they are 0.
      gather.attrs = {};
      gather.inputs = {sum.inputs[0], sum.inputs[1], sum.inputs[2], gather.inputs[2]};
      ++module.num_fused_nodes;
    }
  }
}

bool IsScatter(const Node& node) {
  return IsOp(node, "TensorScatterUpdate") || IsOp(node, "TensorScatterAdd");
}

void CheckScatteredIndices(Module& module) {
  for (const Update& update : module.updates) {
    const Value value = Root(module, update.value);
    if (!IsScatter(module.node(value)) || IsCheckedScatter(module, module.node(value))) continue;
    const Node& table = module.node(Root(module, module.node(value).inputs[0]));
    // Only a scatter into the variable that it updates may be written in place.
    if (table.kind != Node::Kind::kVariable || table.index != update.variable) continue;
    const Value indices = module.node(value).inputs[1];
    const TensorSpec spec = module.spec(indices);
    const std::vector<int64_t>& dims = module.spec(value).shape.dims();
    Node check{.op = kCheckIndicesOp,
               .name = absl::StrCat(module.node(value).name, "/indices"),
               .inputs = {indices},
               .outputs = {spec}};
    check.attrs.Set("limits",
                    std::vector<int64_t>(dims.begin(), dims.begin() + spec.shape.dim(-1)));
    check.attrs.Set(kTableAttr, absl::StrCat("'", At(module.variables, table.index).name, "', ",
                                             module.spec(value).ToString()));
    const Value checked = module.Add(std::move(check));
    module.node(value).inputs[1] = checked;
  }
}

}  // namespace

bool IsCheckedScatter(const Module& module, const Node& node) {
  return IsScatter(node) && module.node(Root(module, node.inputs[1])).op == kCheckIndicesOp;
}

void UpdateRows(Module& module) {
  SumLookedUpRows(module);
  CheckScatteredIndices(module);
  Compact(module);
}

}  // namespace estimator::ir
