#include "tools/to_tfrecord/splits.h"

#include <cmath>
#include <cstddef>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/data/transforms/permutation.h"

namespace estimator {

absl::StatusOr<std::vector<Split>> MakeSplits(const std::string& splits, int64_t num_samples,
                                              bool shuffle, uint64_t seed) {
  const auto error = [&](absl::string_view what) {
    return InvalidArgument("--split=", splits, ": ", what,
                           "; expected NAME, or NAME=FRACTION,... such as ",
                           "train=0.8,validation=0.2");
  };
  std::vector<Split> result;
  std::vector<double> ends;
  std::set<std::string> names;
  double sum = 0;
  const std::vector<std::string> parts = absl::StrSplit(splits, ',');
  for (const std::string& part : parts) {
    const std::vector<std::string> fields = absl::StrSplit(part, absl::MaxSplits('=', 1));
    double fraction = 1;
    if (fields.size() == 2 ? !absl::SimpleAtod(fields[1], &fraction) || !(fraction > 0)
                           : parts.size() > 1) {
      return error(absl::StrCat("\"", part, "\" has no positive fraction"));
    }
    const std::string& name = fields[0];
    if (name.empty() || name[0] == '.' || absl::StrContains(name, '/')) {
      return error(absl::StrCat("\"", name, "\" cannot be the beginning of file names"));
    }
    if (!names.insert(name).second) return error(absl::StrCat("\"", name, "\" occurs twice"));
    sum += fraction;
    ends.push_back(sum);
    result.push_back(
        {.name = name,
         .samples = {},
         .origin = absl::StrCat(splits, shuffle ? ", shuffled by --seed=" : ", in order",
                                shuffle ? absl::StrCat(seed) : "")});
  }
  if (std::abs(sum - 1) > 1e-6) return error(absl::StrCat("the sum of the fractions is ", sum));

  Permutation order(seed, num_samples);
  int64_t next = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    // The last split gets the rest, so that rounding loses no image.
    const int64_t end = i + 1 == result.size()
                            ? num_samples
                            : std::llround(static_cast<double>(num_samples) * ends[i]);
    for (; next < end; ++next) result[i].samples.push_back(shuffle ? order.At(next) : next);
    if (result[i].samples.empty()) {
      return error(
          absl::StrCat("\"", result[i].name, "\" would have none of the ", num_samples, " images"));
    }
  }
  return result;
}

}  // namespace estimator
