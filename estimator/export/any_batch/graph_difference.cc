#include "estimator/export/any_batch/graph_difference.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/export/any_batch/uniform_array.h"
#include "estimator/graph/function.h"

namespace estimator {
namespace {

// A tensor whose elements are all equal.
struct Filled {
  Shape shape;
  Array value;  // a scalar
};

std::optional<Filled> FilledBy(const Node& node) {
  const auto constant = [](const Node& n) -> const Array& { return n.attrs().get<Array>("value"); };
  if (node.op() == "Fill") {
    const Node &dims = *node.input(0).node(), &value = *node.input(1).node();
    if (dims.op() != "Const" || value.op() != "Const") return std::nullopt;
    return Filled{node.outputs()[0].shape, constant(value)};
  }
  if (node.op() != "Const") return std::nullopt;
  const Array& all = constant(node);
  if (!IsUniform(all)) return std::nullopt;
  return Filled{all.shape(), FirstElement(all)};
}

bool SameFilled(const Node& a, const Node& b) {
  const std::optional<Filled> left = FilledBy(a), right = FilledBy(b);
  return left.has_value() && right.has_value() && left->shape == right->shape &&
         SameBits(left->value, right->value);
}

std::string Where(const Node& node) {
  return absl::StrCat("'", node.name(), "' (", node.op(), ")");
}

// Returns the first difference between two nodes, without their inputs. `a` is the predicted node.
std::optional<std::string> NodeDifference(const Node& a, const Node& b) {
  if (a.op() != b.op()) return absl::StrCat(Where(b), " is in the place of ", Where(a));
  // Names of other nodes may differ: they count ops, and the number of ops may depend on the batch.
  if ((a.op() == "VariableV2" || a.op() == "Placeholder") && a.name() != b.name())
    return absl::StrCat(Where(b), " is in the place of ", Where(a));
  if (a.num_inputs() != b.num_inputs() || a.control_inputs().size() != b.control_inputs().size())
    return absl::StrCat(Where(b), " has another number of inputs");
  for (const auto& [name, value] : a.attrs().values()) {
    const auto there = b.attrs().values().find(name);
    if (there != b.attrs().values().end() &&
        Attrs({{name, value}}) == Attrs({{name, there->second}}))
      continue;
    return absl::StrCat(name, " of ", Where(b), " is ",
                        there == b.attrs().values().end() ? "missing" : AttrToString(there->second),
                        ", not ", AttrToString(value));
  }
  if (a.attrs().values().size() != b.attrs().values().size())
    return absl::StrCat(Where(b), " has other attributes");
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    if (i < b.outputs().size() && a.outputs()[i] == b.outputs()[i]) continue;
    return absl::StrCat(Where(b), " is ",
                        i < b.outputs().size() ? b.outputs()[i].ToString() : "nothing", ", not ",
                        a.outputs()[i].ToString());
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> GraphDifference(const std::vector<std::pair<Tensor, Tensor>>& roots) {
  std::set<std::pair<const Node*, const Node*>> seen;
  std::vector<std::pair<const Node*, const Node*>> pending;
  // Of several differences, that of the node that was built first is kept. Others may follow from
  // it.
  int first = 0;
  std::optional<std::string> difference;
  const auto note = [&](const Node& node, std::string what) {
    if (difference.has_value() && node.id() >= first) return;
    first = node.id();
    difference = std::move(what);
  };
  const auto visit = [&](const Node& reader, const Tensor& a, const Tensor& b) {
    if (a.output() != b.output())
      note(reader, absl::StrCat("'", b.name(), "' is in the place of '", a.name(), "'"));
    pending.emplace_back(a.node(), b.node());
  };
  for (const auto& [a, b] : roots) visit(*a.node(), a, b);
  while (!pending.empty()) {
    const auto [a, b] = pending.back();
    pending.pop_back();
    if (!seen.emplace(a, b).second) continue;
    // Zeros is a Const or a Fill, depending on its size.
    if (SameFilled(*a, *b)) continue;
    if (std::optional<std::string> what = NodeDifference(*a, *b)) note(*a, *std::move(what));
    // If the op is the same, a difference in its inputs may be the cause, so the walk continues.
    if (a->op() != b->op() || a->num_inputs() != b->num_inputs() ||
        a->control_inputs().size() != b->control_inputs().size())
      continue;
    for (int i = 0; i < a->num_inputs(); ++i) visit(*a, a->input(i), b->input(i));
    for (size_t f = 0; f < a->functions().size() && f < b->functions().size(); ++f) {
      const Function *const of_a = a->functions()[f].get(), *const of_b = b->functions()[f].get();
      if (of_a == nullptr || of_b == nullptr) continue;
      std::vector<std::pair<Tensor, Tensor>> results;
      for (size_t i = 0; i < of_a->results().size() && i < of_b->results().size(); ++i)
        results.emplace_back(of_a->results()[i], of_b->results()[i]);
      if (std::optional<std::string> what = GraphDifference(results))
        note(*a, absl::StrCat("inside of ", Where(*b), ": ", *what));
    }
    for (size_t i = 0; i < a->control_inputs().size(); ++i)
      pending.emplace_back(a->control_inputs()[i].node(), b->control_inputs()[i].node());
  }
  return difference;
}

}  // namespace estimator
