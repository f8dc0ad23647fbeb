#include "estimator/checkpoint/bundle/bundle_format.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {

std::string IndexPath(absl::string_view prefix) { return absl::StrCat(prefix, ".index"); }

std::string DataPath(absl::string_view prefix, int shard, int num_shards) {
  return absl::StrFormat("%s.data-%05d-of-%05d", prefix, shard, num_shards);
}

absl::StatusOr<std::vector<std::string>> FilesBeside(absl::string_view prefix) {
  const absl::string_view directory = Dirname(prefix);
  return ListDirectory(directory.empty() ? "." : directory);
}

absl::StatusOr<std::vector<std::string>> DataFilesOf(absl::string_view prefix) {
  EST_ASSIGN_OR_RETURN(std::vector<std::string> names, FilesBeside(prefix));
  const std::string begin = absl::StrCat(Basename(prefix), ".data-");
  std::erase_if(names, [&](const std::string& name) { return !absl::StartsWith(name, begin); });
  return names;
}

std::string InputStatePath(absl::string_view prefix) { return absl::StrCat(prefix, ".input"); }

std::string MetaGraphPath(absl::string_view prefix) {
  const auto without = [](absl::string_view text, absl::string_view characters) {
    const size_t end = text.find_last_not_of(characters);
    return end == absl::string_view::npos ? absl::string_view() : text.substr(0, end + 1);
  };
  // TensorFlow names the graph of a V1 checkpoint in several files without their numbers.
  absl::string_view base = without(prefix, "0123456789");
  const bool numbered = base.size() < prefix.size() && absl::ConsumeSuffix(&base, "-of-");
  const absl::string_view name = without(base, "0123456789?");
  const bool is_shard = numbered && name.size() < base.size() && absl::EndsWith(name, "-");
  return absl::StrCat(is_shard ? name.substr(0, name.size() - 1) : prefix, ".meta");
}

int64_t StepOfPrefix(absl::string_view prefix) {
  const size_t dash = prefix.rfind('-');
  if (dash == absl::string_view::npos) return -1;
  const absl::string_view digits = prefix.substr(dash + 1);
  int64_t step = -1;
  if (digits.empty() || digits.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(digits, &step)) {
    return -1;
  }
  return step;
}

}  // namespace estimator
