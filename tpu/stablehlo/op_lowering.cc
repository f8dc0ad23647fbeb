#include "tpu/stablehlo/op_lowering.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator::tpu::stablehlo {
namespace {

std::map<std::string, OpLowering>& Registry() {
  // A function's static: registrations run before main, in any order.
  static auto* const registry = new std::map<std::string, OpLowering>;
  return *registry;
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

absl::Status NotLowerable(StringArg reason) { return Unimplemented(reason); }

bool RegisterLowering(absl::string_view op, OpLowering lowering) {
  CHECK(Registry().emplace(op, std::move(lowering)).second)
      << "the StableHLO of " << op << " is registered twice";
  return true;
}

const OpLowering* FindLowering(absl::string_view op) {
  const auto it = Registry().find(std::string(op));
  return it == Registry().end() ? nullptr : &it->second;
}

std::vector<std::string> LoweredOps() {
  std::vector<std::string> ops;
  for (const auto& [op, lowering] : Registry()) ops.push_back(op);
  return ops;
}

}  // namespace estimator::tpu::stablehlo
