#include "estimator/training/model/scaffold.h"

namespace estimator {

std::map<std::string, std::string> RestoreNames(
    const std::map<std::string, Variable>& variables_to_restore) {
  std::map<std::string, std::string> names;
  for (const auto& [stored_name, variable] : variables_to_restore) {
    if (stored_name != variable.name()) names[variable.name()] = stored_name;
  }
  return names;
}

}  // namespace estimator
