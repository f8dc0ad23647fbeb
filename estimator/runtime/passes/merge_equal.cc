#include "estimator/runtime/passes/merge_equal.h"

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "estimator/array/compare.h"

namespace estimator::ir {
namespace {

// Equal nodes have equal hashes. Attributes are not hashed but compared, because few nodes differ
// only in them.
size_t Hash(const Node& node) {
  size_t hash = absl::HashOf(node.op, node.kind, node.index);
  for (const Value& input : node.inputs) hash = absl::HashOf(hash, input.node, input.output);
  for (const TensorSpec& output : node.outputs)
    hash = absl::HashOf(hash, output.dtype, output.shape.dims());
  if (node.kind == Node::Kind::kConstant && node.constant.dtype() != DType::kString) {
    // A prefix is enough: Equal compares all bytes.
    const absl::string_view bytes(static_cast<const char*>(node.constant.raw()),
                                  node.constant.num_bytes());
    hash = absl::HashOf(hash, bytes.substr(0, 4096));
  }
  return hash;
}

bool Equal(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.op != b.op || a.index != b.index || a.inputs != b.inputs ||
      !(a.outputs == b.outputs)) {
    return false;
  }
  // Bits are compared, because 0 equals -0 as a number, and NaN does not equal itself.
  if (a.kind == Node::Kind::kConstant) return SameBits(a.constant, b.constant);
  return a.attrs == b.attrs;
}

}  // namespace

void MergeEqual(Module& module) {
  std::unordered_multimap<size_t, int> seen;
  Replacements to(module.nodes.size());
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    Node& node = module.nodes[n];
    ReplaceInputs(node, to);
    // Two random ops with equal inputs give different numbers. Two sums over replicas are equal.
    if (node.stateful && node.op != "CrossReplicaSum") continue;
    const size_t hash = Hash(node);
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end && to[n].empty(); ++it) {
      if (!Equal(node, module.node(it->second))) continue;
      for (size_t o = 0; o < node.outputs.size(); ++o) {
        to[n].push_back({it->second, static_cast<int>(o)});
      }
    }
    if (to[n].empty()) seen.emplace(hash, static_cast<int>(n));
  }
  ReplaceUses(module, to);
  Compact(module);
}

}  // namespace estimator::ir
