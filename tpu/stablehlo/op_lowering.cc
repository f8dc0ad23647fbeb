#include "tpu/stablehlo/op_lowering.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace estimator::tpu::stablehlo {
namespace {

struct Registry {
  std::map<std::string, OpLowering> lowerings;
  std::map<std::string, std::string> reasons;  // of the ops that are never lowered

  void CheckIsNew(const std::string& op) const {
    CHECK(lowerings.count(op) == 0 && reasons.count(op) == 0)
        << "the StableHLO of " << op << " is registered twice";
  }
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

template <typename T>
std::vector<std::string> Keys(const std::map<std::string, T>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

absl::StatusOr<Ints> LoweringArgs::ConstantInts(int i) const {
  const Array* const value = constant(i);
  if (value == nullptr) {
    return NotLowerable(
        absl::StrCat("input ", i, " must be known when the step is compiled; pass a constant"));
  }
  const Array ints = value->Cast(DType::kInt64);
  const absl::Span<const int64_t> values = ints.values<int64_t>();
  return Ints(values.begin(), values.end());
}

absl::Status NotLowerable(StringArg reason) { return absl::UnimplementedError(reason); }

bool RegisterLowering(absl::string_view op, OpLowering lowering) {
  TheRegistry().CheckIsNew(std::string(op));
  TheRegistry().lowerings.emplace(op, std::move(lowering));
  return true;
}

bool RegisterNotLowerable(absl::string_view op, absl::string_view reason) {
  TheRegistry().CheckIsNew(std::string(op));
  TheRegistry().reasons.emplace(op, reason);
  return true;
}

const OpLowering* FindLowering(absl::string_view op) {
  const auto it = TheRegistry().lowerings.find(std::string(op));
  return it == TheRegistry().lowerings.end() ? nullptr : &it->second;
}

std::optional<std::string> ReasonNotLowerable(absl::string_view op) {
  const auto it = TheRegistry().reasons.find(std::string(op));
  if (it == TheRegistry().reasons.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> LoweredOps() { return Keys(TheRegistry().lowerings); }
std::vector<std::string> NotLowerableOps() { return Keys(TheRegistry().reasons); }

}  // namespace estimator::tpu::stablehlo
