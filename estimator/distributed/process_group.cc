#include "estimator/distributed/process_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<std::string> ProcessGroup::Broadcast(absl::string_view bytes, int root) {
  EST_ASSIGN_OR_RETURN(
      std::vector<std::string> all,
      Exchange(absl::StrCat("Broadcast of rank ", root), rank() == root ? bytes : ""));
  return std::move(all[static_cast<size_t>(root)]);
}

absl::StatusOr<int64_t> ProcessGroup::AllReduceMax(int64_t value) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       Exchange("AllReduceMax", absl::StrCat(value)));
  for (const std::string& text : all) {
    int64_t other = value;
    if (absl::SimpleAtoi(text, &other)) value = std::max(value, other);
  }
  return value;
}

}  // namespace estimator
