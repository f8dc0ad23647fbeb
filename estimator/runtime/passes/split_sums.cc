#include "estimator/runtime/passes/split_sums.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace estimator::ir {
namespace {

constexpr size_t kMaxParts = 8;

bool IsLongSum(const Node& node) {
  return node.kind == Node::Kind::kOp && node.op == "AddN" && node.inputs.size() > kMaxParts &&
         (node.outputs[0].dtype == DType::kFloat32 || node.outputs[0].dtype == DType::kFloat64);
}

// Renumbers the nodes in the order of their places.
void SortByPlace(Module& module, const std::vector<int>& place) {
  std::vector<int> order;
  for (size_t n = 0; n < place.size(); ++n) order.push_back(static_cast<int>(n));
  // A link follows the node at its place, because its own number is larger.
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return At(place, a) < At(place, b); });
  std::vector<int> new_index(place.size());
  std::vector<Node> nodes;
  for (const int n : order) {
    At(new_index, n) = static_cast<int>(nodes.size());
    nodes.push_back(std::move(module.node(n)));
  }
  const auto renumber = [&](Value& value) { value.node = At(new_index, value.node); };
  for (Node& node : nodes) std::for_each(node.inputs.begin(), node.inputs.end(), renumber);
  std::for_each(module.fetches.begin(), module.fetches.end(), renumber);
  for (Update& update : module.updates) renumber(update.value);
  module.nodes = std::move(nodes);
}

}  // namespace

void SplitSums(Module& module) {
  const size_t num_nodes = module.nodes.size();
  std::vector<int> place;  // of each node: itself, or the node that a new one follows
  for (size_t n = 0; n < num_nodes; ++n) place.push_back(static_cast<int>(n));
  for (size_t n = 0; n < num_nodes; ++n) {
    if (!IsLongSum(module.nodes[n])) continue;
    const std::vector<Value> parts = module.nodes[n].inputs;
    const Node whole = module.nodes[n];
    std::vector<Value> link(parts.begin(), parts.begin() + kMaxParts);
    int last = -1;
    for (size_t next = kMaxParts; next < parts.size();) {
      for (const Value& part : link) last = std::max(last, At(place, part.node));
      Node sum = whole;
      sum.name = absl::StrCat(whole.name, "/part");
      sum.inputs = link;
      place.push_back(last);
      link = {{static_cast<int>(module.nodes.size()), 0}};
      module.nodes.push_back(std::move(sum));
      for (; next < parts.size() && link.size() < kMaxParts; ++next) link.push_back(parts[next]);
    }
    module.nodes[n].inputs = std::move(link);
    if (module.nodes[n].inputs.size() == 2) module.nodes[n].op = "AddV2";  // has a faster kernel
  }
  if (module.nodes.size() > num_nodes) SortByPlace(module, place);
}

}  // namespace estimator::ir
