#include "estimator/checkpoint/keras/slot_names.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace estimator {
namespace {

struct SlotName {
  const char* optimizer;
  const char* slot;
  const char* legacy_slot;
  const char* ours;
};
// On disk: do not change.
constexpr SlotName kSlotNames[] = {
    {"Adam", "m", "m", "Adam"},
    {"Adam", "v", "v", "Adam_1"},
    {"AdamW", "m", "m", "adam_m"},
    {"AdamW", "v", "v", "adam_v"},
    {"RMSprop", "velocity", "rms", "RMSProp"},
    {"RMSprop", "momentum", "momentum", "RMSProp_1"},
    {"RMSprop", "average_gradient", "mg", "RMSProp_1"},
    {"Adagrad", "accumulator", "accumulator", "Adagrad"},
    {"Adadelta", "accumulated_grad", "accum_grad", "Adadelta"},
    {"Adadelta", "accumulated_delta_var", "accum_var", "Adadelta_1"},
    {"Ftrl", "accumulator", "accumulator", "Ftrl"},
    {"Ftrl", "linear", "linear", "Ftrl_1"},
};

// The variable of a slot, if `name` is that slot; else empty.
std::string VariableOf(absl::string_view name, const SlotName& slot) {
  const std::string begin = absl::StrCat(slot.optimizer, "/", slot.slot, "/");
  if (absl::StartsWith(name, begin)) return std::string(name.substr(begin.size()));
  const std::string legacy_begin = absl::StrCat(slot.optimizer, "/");
  const std::string legacy_end = absl::StrCat("/", slot.legacy_slot);
  if (name.size() <= legacy_begin.size() + legacy_end.size() ||
      !absl::StartsWith(name, legacy_begin) || !absl::EndsWith(name, legacy_end))
    return "";
  return std::string(
      name.substr(legacy_begin.size(), name.size() - legacy_begin.size() - legacy_end.size()));
}

}  // namespace

std::map<std::string, std::string> OurSlotNames(const std::set<std::string>& names) {
  std::map<std::string, std::string> renamed;
  const bool is_centered = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return absl::StartsWith(name, "RMSprop/average_gradient/") ||
           (absl::StartsWith(name, "RMSprop/") && absl::EndsWith(name, "/mg"));
  });
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    if (name == "iteration" || (slash != std::string::npos && name.substr(slash) == "/iter"))
      renamed[name] = "global_step";
    for (const SlotName& slot : kSlotNames) {
      const std::string variable = VariableOf(name, slot);
      if (variable.empty() || names.count(variable) == 0) continue;
      const bool is_third = is_centered && absl::string_view(slot.slot) == "momentum";
      renamed[name] = absl::StrCat(variable, "/", is_third ? "RMSProp_2" : slot.ours);
    }
  }
  std::map<std::string, int> uses;
  for (const auto& [name, ours] : renamed) ++uses[ours];
  std::erase_if(renamed, [&](const auto& slot) {
    return uses[slot.second] > 1 || names.count(slot.second) > 0;
  });
  return renamed;
}

}  // namespace estimator
