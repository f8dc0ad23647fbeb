#include "estimator/graph/op_registry.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "estimator/graph/constant_value.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::map<std::string, OpDef, std::less<>>& Registry() {
  static auto* registry = new std::map<std::string, OpDef, std::less<>>();
  return *registry;
}

}  // namespace

bool RegisterOp(OpDef def) {
  const std::string name = def.name;
  CHECK(def.shape != nullptr) << "op " << name << " has no shape rule";
  CHECK(Registry().emplace(name, std::move(def)).second) << "op " << name << " is registered twice";
  return true;
}

const OpDef* FindOp(absl::string_view name) {
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
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " ('", tensor.name(),
                     "') must be a constant: shapes are static, and it depends on an input, a "
                     "variable or a random op"));
  }
  if (!IsInteger(value->dtype())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input ", i, " ('", tensor.name(), "') must be integers, not ", value->TypeString()));
  }
  const Array ints = value->Cast(DType::kInt64);
  return std::vector<int64_t>(ints.values<int64_t>().begin(), ints.values<int64_t>().end());
}

}  // namespace estimator
