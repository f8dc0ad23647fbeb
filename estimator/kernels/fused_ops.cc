#include "estimator/kernels/fused_ops.h"

#include <string>
#include <vector>

#include "estimator/op_def/op_def.h"

namespace estimator {

std::optional<FusedOps> FusedOpsOf(const KernelSpec& spec) {
  std::vector<std::string> names;
  if (spec.attrs.has("fused_ops")) names = spec.attrs.get<std::vector<std::string>>("fused_ops");
  const size_t inputs = spec.inputs.size();
  std::optional<FusedOps> fused;
  if (names.empty()) {
    // More inputs without a list of ops have no meaning, and a kernel must not ignore them.
    if (inputs == 2) fused.emplace();
    return fused;
  }
  if (names[0] != "BiasAdd" || names.size() > 2 || inputs < 3 || inputs > 4) return fused;
  std::optional<fused::TileOpInfo> activation;
  if (names.size() == 2) {
    if (TraitsOf(names[1]).activation) activation = fused::FindTileOp(names[1]);
    if (!activation.has_value() || activation->num_operands != 1) return fused;
    // Without its slope the op would silently become another activation.
    if (activation->has_alpha && !spec.attrs.has("leakyrelu_alpha")) return fused;
  }
  fused.emplace();
  fused->bias = true;
  fused->side = inputs == 4;
  if (activation.has_value()) {
    fused->activation = activation->op;
    if (activation->has_alpha) fused->alpha = spec.attrs.f("leakyrelu_alpha");
  }
  return fused;
}

}  // namespace estimator
