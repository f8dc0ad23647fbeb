#include "tools/train_graph/parse_feeds.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/npy.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"

namespace estimator {

absl::StatusOr<std::map<std::string, Array>> ParseFeeds(StringArg text) {
  std::map<std::string, Array> feeds;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(part, absl::MaxSplits('=', 1));
    double number = 0;
    Array value;
    if (words.size() != 2 || words[0].empty() || words[1].empty()) {
      return UsageError(absl::StrCat("--feed: '", part, "' is not TENSOR=VALUE"));
    }
    if (words[1] == "true" || words[1] == "false") {
      value = Array::Scalar(words[1] == "true");
    } else if (absl::SimpleAtod(words[1], &number)) {
      value = Array::Scalar(number);
    } else if (absl::EndsWith(words[1], ".npy")) {
      absl::StatusOr<Array> array = LoadNpy(words[1]);
      if (!array.ok()) return AsUsageError(Annotate(array.status(), "--feed"));
      value = *std::move(array);
    } else {
      return UsageError(absl::StrCat("--feed: '", words[1], "' of ", words[0],
                                     " is no number, true, false or .npy file"));
    }
    if (!feeds.emplace(words[0], std::move(value)).second)
      return UsageError(absl::StrCat("--feed: ", words[0], " occurs twice"));
  }
  return feeds;
}

}  // namespace estimator
