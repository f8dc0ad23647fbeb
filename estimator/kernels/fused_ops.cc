#include "estimator/kernels/fused_ops.h"

#include <string>
#include <utility>
#include <vector>

#include "estimator/op_def/op_def.h"

namespace estimator {
namespace {

std::vector<std::string> NamesOf(const KernelSpec& spec) {
  if (!spec.attrs.has("fused_ops")) return {};
  return spec.attrs.get<std::vector<std::string>>("fused_ops");
}

}  // namespace

std::optional<FusedOps> FusedOpsOf(const KernelSpec& spec) {
  const std::vector<std::string> names = NamesOf(spec);
  const size_t inputs = spec.inputs.size();
  std::optional<FusedOps> fused;
  if (names.empty()) {
    if (inputs == 2) fused.emplace();
    return fused;
  }
  if (names[0] != "BiasAdd" || names.size() > 2 || inputs < 3 || inputs > 4) return fused;
  std::optional<fused::TileOpInfo> activation;
  if (names.size() == 2) {
    if (TraitsOf(names[1]).activation) activation = fused::FindTileOp(names[1]);
    if (!activation.has_value() || activation->num_operands != 1) return fused;
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

KernelSpec WithoutActivation(KernelSpec spec) {
  std::vector<std::string> names = NamesOf(spec);
  if (names.size() < 2) return spec;
  names.resize(1);
  spec.attrs.Set("fused_ops", std::move(names));
  return spec;
}

}  // namespace estimator
