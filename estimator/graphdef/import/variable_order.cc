#include "estimator/graphdef/import/variable_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/write_rules.h"

namespace estimator {
namespace {

constexpr size_t kMaxWords = size_t{1} << 27;  // 1 GiB for each of the two tables
constexpr size_t kWordBits = 64;

}  // namespace

absl::StatusOr<VariableOrder> VariableOrder::Create(const FlatGraph& nodes,
                                                    std::vector<int> sorted) {
  VariableOrder order(nodes);
  order.sorted_ = std::move(sorted);
  order.place_.assign(static_cast<size_t>(nodes.size()), -1);
  for (size_t i = 0; i < order.sorted_.size(); ++i)
    order.place_[static_cast<size_t>(order.sorted_[i])] = static_cast<int>(i);
  order.FindReferences();
  EST_RETURN_IF_ERROR(order.FindPaths());
  order.SortWrites();
  return order;
}

int VariableOrder::VariableOf(FlatTensor tensor) const {
  const auto found = references_.find(tensor);
  return found == references_.end() ? -1 : found->second;
}

const std::vector<int>& VariableOrder::Writes(int variable) const {
  static const std::vector<int>* const kNone = new std::vector<int>();
  const auto found = writes_.find(variable);
  return found == writes_.end() ? *kNone : found->second;
}

void VariableOrder::FindReferences() {
  for (const int i : sorted_) {
    const FlatNode& node = nodes_->node(i);
    const absl::string_view op = node.op;
    if (IsVariableOp(op)) {
      references_[{i, 0}] = i;
      continue;
    }
    if (const WriteRule* const rule = FindWriteRule(op)) {
      std::set<int> states;
      for (size_t k = 0; k < node.inputs.size() && k < static_cast<size_t>(rule->num_states); ++k) {
        const int variable = VariableOf(node.inputs[k]);
        // An op that has a variable twice writes it once.
        if (variable < 0 || !states.insert(variable).second) continue;
        writes_[variable].push_back(i);
        write_index_.emplace(i, write_index_.size());
        // An op on a reference returns the reference.
        if (k == 0 && nodes_->op(variable) != "VarHandleOp") references_[{i, 0}] = variable;
      }
      continue;
    }
    // A handle passes through a Switch; what a reference points to is read by it.
    const bool is_switch = IsSwitchOp(op);
    if (!PassesReference(op) && !is_switch) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const int variable = VariableOf(node.inputs[k]);
      if (variable < 0) continue;
      if (!is_switch) {
        references_[{i, static_cast<int>(k)}] = variable;
      } else if (k == 0 && (nodes_->op(variable) == "VarHandleOp" || op == "RefSwitch")) {
        references_[{i, 0}] = references_[{i, 1}] = variable;
      }
    }
  }
}

bool VariableOrder::Bit(const std::vector<Word>& bits, int node, size_t write) const {
  const int place = PlaceOf(node);
  if (place < 0) return false;
  const Word word = bits[static_cast<size_t>(place) * num_words_ + write / kWordBits];
  return (word >> (write % kWordBits) & 1) != 0;
}

absl::Status VariableOrder::FindPaths() {
  if (write_index_.empty()) return absl::OkStatus();
  num_words_ = (write_index_.size() + kWordBits - 1) / kWordBits;
  // A bit for each pair of node and write: a malformed file must not allocate all memory.
  if (num_words_ * sorted_.size() > kMaxWords) {
    return InvalidArgument("the graph has ", write_index_.size(), " writes of variables and ",
                           sorted_.size(), " nodes, which is too much to order");
  }
  after_.assign(num_words_ * sorted_.size(), 0);
  before_.assign(num_words_ * sorted_.size(), 0);
  // Adds the writes at `from`, and `from` itself, to those of `to`.
  const auto merge = [this](std::vector<Word>& bits, int to, int from) {
    // What a given tensor came from is not in the order.
    if (PlaceOf(to) < 0 || PlaceOf(from) < 0) return;
    const auto into = static_cast<size_t>(PlaceOf(to)) * num_words_;
    const auto source = static_cast<size_t>(PlaceOf(from)) * num_words_;
    for (size_t w = 0; w < num_words_; ++w) bits[into + w] |= bits[source + w];
    const auto own = write_index_.find(from);
    if (own != write_index_.end())
      bits[into + own->second / kWordBits] |= Word{1} << (own->second % kWordBits);
  };
  for (const int i : sorted_) {
    for (const FlatTensor& input : nodes_->node(i).inputs) merge(after_, i, input.node);
    for (const int control : nodes_->node(i).controls) merge(after_, i, control);
  }
  // Backwards, so that a node has the writes of all its readers before it passes them on.
  for (auto i = sorted_.rbegin(); i != sorted_.rend(); ++i) {
    for (const FlatTensor& input : nodes_->node(*i).inputs) merge(before_, input.node, *i);
    for (const int control : nodes_->node(*i).controls) merge(before_, control, *i);
  }
  return absl::OkStatus();
}

void VariableOrder::SortWrites() {
  // `sorted_` is an order that agrees with all paths; where there is no path it decides.
  for (auto& [variable, writes] : writes_) {
    std::sort(writes.begin(), writes.end(),
              [this](int a, int b) { return PlaceOf(a) < PlaceOf(b); });
  }
}

size_t VariableOrder::NumVisible(int variable, int node) const {
  const std::vector<int>& writes = Writes(variable);
  // From the last one back: if a write is visible, those before it have taken effect too.
  for (size_t k = writes.size(); k > 0; --k) {
    if (writes[k - 1] == node) return k - 1;
    if (After(node, write_index_.at(writes[k - 1]))) return k;
  }
  return 0;
}

std::vector<std::string> VariableOrder::Undefined(const std::vector<bool>& needed) const {
  std::vector<std::string> sentences;
  for (const auto& [variable, writes] : writes_) {
    for (size_t k = 1; k < writes.size(); ++k) {
      // Neighbours suffice: if each write comes after the one before it, all are ordered.
      if (After(writes[k], write_index_.at(writes[k - 1]))) continue;
      sentences.push_back(
          absl::StrCat("TensorFlow does not define whether '", nodes_->node(writes[k - 1]).name,
                       "' or '", nodes_->node(writes[k]).name, "' writes '",
                       nodes_->node(variable).name, "' first; it is imported in this order"));
    }
  }
  for (const int i : sorted_) {
    if (!needed[static_cast<size_t>(i)]) continue;
    const absl::string_view op = nodes_->op(i);
    if (PassesReference(op) || IsVariableOp(op)) continue;
    const WriteRule* const own = FindWriteRule(op);
    std::set<int> seen;
    for (size_t k = 0; k < nodes_->node(i).inputs.size(); ++k) {
      const int variable = VariableOf(nodes_->node(i).inputs[k]);
      if (variable < 0 || !seen.insert(variable).second) continue;
      const bool state = own != nullptr && k < static_cast<size_t>(own->num_states);
      if (state) continue;  // two writes: see above
      for (const int write : Writes(variable)) {
        const size_t bit = write_index_.at(write);
        if (write == i || After(i, bit) || Before(i, bit)) continue;
        sentences.push_back(
            absl::StrCat("TensorFlow does not define whether '", nodes_->node(i).name, "' reads '",
                         nodes_->node(variable).name, "' before or after '",
                         nodes_->node(write).name, "' writes it; it is imported as before"));
      }
    }
  }
  return sentences;
}

}  // namespace estimator
