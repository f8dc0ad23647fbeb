// The keys of a map, for messages that say what a model has.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_JOIN_KEYS_H_
#define ESTIMATOR_EXPORT_SIGNATURE_JOIN_KEYS_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator {

// "a, b, c", or "none".
template <typename Map>
std::string JoinKeys(const Map& map) {
  return map.empty() ? "none" : absl::StrJoin(map, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_JOIN_KEYS_H_
