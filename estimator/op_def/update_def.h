// UpdateDef: what is known of an optimizer's update rule without its formula. The formulas are in
// op_def/update_formulas.h.
#ifndef ESTIMATOR_OP_DEF_UPDATE_DEF_H_
#define ESTIMATOR_OP_DEF_UPDATE_DEF_H_

#include <algorithm>
#include <cstddef>
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
  absl::string_view op;  // TensorFlow's name: "ApplyMomentum"
  // TensorFlow's names of the inputs in order, separated by spaces. The first num_states are the
  // state, which is also the output.
  absl::string_view operands;
  int num_states = 1;
  absl::string_view flag = "";  // the attribute that selects the formula; "": there is one formula
  bool flag_default = false;
  RowUpdates rows = RowUpdates::kOnlyLookedUp;

  constexpr int num_operands() const {
    int count = 1;
    for (const char c : operands) count += c == ' ';
    return count;
  }
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
};

const std::vector<UpdateDef>& UpdateOps();            // the rules that are ops here
const std::vector<UpdateDef>& ImportedUpdates();      // the others, which become element-wise ops
const UpdateDef* FindUpdateOp(absl::string_view op);  // null if it is not one of UpdateOps

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_UPDATE_DEF_H_
