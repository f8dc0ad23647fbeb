// The attributes of a row (OpDef::attrs), parsed.
#ifndef ESTIMATOR_OP_DEF_ATTR_DEF_H_
#define ESTIMATOR_OP_DEF_ATTR_DEF_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"

namespace estimator {

struct AttrDef {
  std::string name;
  char kind = ' ';  // b, i, f, s, t, l or p
  std::optional<AttrValue> default_value;
  bool only_default = false;
};
// Those that are values of the node.
std::vector<AttrDef> ParseAttrs(absl::string_view attrs);

struct ImpliedAttr {
  std::string name;
  std::string source;
};
// Those that follow from the node.
//   num_inputs: of the node.
std::vector<ImpliedAttr> ParseImpliedAttrs(absl::string_view attrs, int num_inputs);

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_ATTR_DEF_H_
