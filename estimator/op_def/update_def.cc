#include "estimator/op_def/update_def.h"

#include "estimator/op_def/update_formulas.h"

namespace estimator {
namespace {

template <typename Rules>
std::vector<UpdateDef> DefsOf() {
  std::vector<UpdateDef> defs;
  Rules::ForEach([&defs]<typename Rule>() { defs.push_back(Rule::kDef); });
  return defs;
}

}  // namespace

const std::vector<UpdateDef>& UpdateOps() {
  static const auto* const kDefs = new std::vector<UpdateDef>(DefsOf<updates::OpRules>());
  return *kDefs;
}

const std::vector<UpdateDef>& ImportedUpdates() {
  static const auto* const kDefs = new std::vector<UpdateDef>(DefsOf<updates::ImportedRules>());
  return *kDefs;
}

const UpdateDef* FindUpdateOp(absl::string_view op) {
  for (const UpdateDef& def : UpdateOps())
    if (def.op == op) return &def;
  return nullptr;
}

}  // namespace estimator
