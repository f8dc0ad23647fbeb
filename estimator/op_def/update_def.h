// UpdateDef: what is known of an optimizer's update rule without its formula. The formulas are in
// op_def/update_formulas.h.
#ifndef ESTIMATOR_OP_DEF_UPDATE_DEF_H_
#define ESTIMATOR_OP_DEF_UPDATE_DEF_H_

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

namespace estimator {

// What a step does that looks up only some rows of a variable (graph/indexed_slices.h).
enum class RowUpdates {
  kOnlyLookedUp,  // other rows keep their value, although the rule would change them
  kSameResult,    // the rule does not change a row whose gradient is 0, so either way is right
  kAllRows,       // the rule changes every row, as TensorFlow's Adam does
};

struct UpdateDef {
  const char* op;  // TensorFlow's name: "ApplyMomentum"
  // As in an OpDef (op_def/op_def.h). The first operands are the state, which is also the result.
  const char* signature;   // "var accum lr grad momentum -> var accum"
  const char* attrs = "";  // "use_nesterov:b=false"
  RowUpdates rows = RowUpdates::kOnlyLookedUp;

  // What follows from the fields above.
  //
  // TensorFlow's names of the inputs in order, separated by spaces. The first num_states are the
  // state.
  absl::string_view operands = Before(signature, " -> ");
  int num_states = CountWords(signature) - CountWords(operands) - 1;
  // The attribute that selects the formula; "": there is one formula. An attribute with "!" has one
  // value only, so it selects nothing.
  absl::string_view flag = std::string_view(attrs).ends_with('!') ? "" : Before(attrs, ":");

  constexpr int num_operands() const { return CountWords(operands); }
  // The name of operand i.
  constexpr absl::string_view operand(int i) const {
    const char* begin = operands.data();
    const char* const end = begin + operands.size();
    for (; i > 0; ++begin) i -= *begin == ' ';
    const char* last = begin;
    while (last != end && *last != ' ') ++last;
    return {begin, static_cast<size_t>(last - begin)};
  }
  // The number of the operand `name`; -1 if there is none.
  constexpr int Find(absl::string_view name) const {
    for (int i = 0; i < num_operands(); ++i)
      if (operand(i) == name) return i;
    return -1;
  }
  constexpr int gradient() const { return std::max(Find("grad"), Find("delta")); }
  // Whether operand i has the shape of the variable. The others are scalars.
  constexpr bool IsFull(int i) const { return i < num_states || i == gradient(); }

  static constexpr absl::string_view Before(std::string_view text, std::string_view mark) {
    return {text.data(), std::min(text.find(mark), text.size())};
  }
  static constexpr int CountWords(absl::string_view words) {
    int count = 1;
    for (const char c : words) count += c == ' ';
    return count;
  }
};

const std::vector<UpdateDef>& UpdateOps();            // the rules that are ops here
const std::vector<UpdateDef>& ImportedUpdates();      // the others, which become element-wise ops
const UpdateDef* FindUpdateOp(absl::string_view op);  // null if it is not one of UpdateOps

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_UPDATE_DEF_H_
