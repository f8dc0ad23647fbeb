#include "estimator/runtime/passes/split_sums.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/runtime/passes/pattern.h"

namespace estimator::ir {
namespace {

constexpr size_t kMaxParts = 8;

bool IsLongSum(const Node& node) {
  return IsOp(node, "AddN") && node.inputs.size() > kMaxParts &&
         (node.outputs[0].dtype == DType::kFloat32 || node.outputs[0].dtype == DType::kFloat64);
}

}  // namespace

void SplitSums(Module& module) {
  const int num_nodes = module.num_nodes();
  std::map<int, int> after;  // for each link the last of its parts
  for (int n = 0; n < num_nodes; ++n) {
    if (!IsLongSum(module.node(n))) continue;
    const std::vector<Value> parts = module.node(n).inputs;
    std::vector<Value> link(parts.begin(), parts.begin() + kMaxParts);
    int last = -1;
    for (size_t next = kMaxParts; next < parts.size();) {
      for (const Value& part : link) {
        if (part.node < num_nodes) last = std::max(last, part.node);  // else the link before
      }
      Node sum = module.node(n);
      sum.name = absl::StrCat(sum.name, "/part");
      sum.inputs = std::move(link);
      link = {module.Add(std::move(sum))};
      after[link[0].node] = last;
      for (; next < parts.size() && link.size() < kMaxParts; ++next) link.push_back(parts[next]);
    }
    module.node(n).inputs = std::move(link);
    if (module.node(n).inputs.size() == 2) module.node(n).op = "AddV2";  // has a faster kernel
  }
  // Without a link, Compact would drop nothing and keep the order.
  if (!after.empty()) Compact(module, after);
}

}  // namespace estimator::ir
