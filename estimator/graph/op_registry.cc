#include "estimator/graph/op_registry.h"

#include <map>

#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/op_def/op_def.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::map<std::string, OpRules, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, OpRules, std::less<>>();
  return *registry;
}

}  // namespace

bool RegisterOp(absl::string_view name, ShapeFn shape, GradientFn gradient) {
  const OpDef* const row = FindOpDef(name);
  CHECK(row != nullptr) << "op " << name << " has no row in estimator/op_def";
  return RegisterOp({.name = std::string(name),
                     .num_inputs = row->num_inputs(),
                     .shape = std::move(shape),
                     .gradient = std::move(gradient),
                     .not_differentiable = row->traits.not_differentiable,
                     .stateful = row->traits.stateful});
}

bool RegisterOp(OpRules rules) {
  const std::string name = rules.name;
  CHECK(rules.shape != nullptr) << "op " << name << " has no shape rule";
  AddOpDef(name, {.not_differentiable = rules.not_differentiable,
                  .stateful = rules.stateful,
                  .read_as_is = false});
  CHECK(Registry().emplace(name, std::move(rules)).second)
      << "op " << name << " is registered twice";
  return true;
}

const OpRules* FindOp(absl::string_view name) {
  const auto found = Registry().find(std::string(name));
  return found == Registry().end() ? nullptr : &found->second;
}

std::vector<std::string> RegisteredOps() {
  std::vector<std::string> names;
  for (const auto& [name, def] : Registry()) names.push_back(name);
  return names;
}

absl::StatusOr<std::vector<int64_t>> ShapeContext::ConstantInts(int i) const {
  const Tensor& tensor = inputs[static_cast<size_t>(i)];
  const std::optional<Array> value = ConstantValue(tensor);
  if (!value.has_value()) {
    return InvalidArgument(
        "input ", i, " ('", tensor.name(),
        "') must be a constant: shapes are static, and it depends on an input, a "
        "variable or a random op");
  }
  if (!IsInteger(value->dtype())) {
    return InvalidArgument("input ", i, " ('", tensor.name(), "') must be integers, not ",
                           value->TypeString());
  }
  const Array ints = value->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.values<int64_t>().begin(), ints.values<int64_t>().end());
}

}  // namespace estimator
