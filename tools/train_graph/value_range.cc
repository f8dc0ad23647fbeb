#include "tools/train_graph/value_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<ValueRange> ParseValueRange(absl::string_view text) {
  const std::vector<std::string> ends = absl::StrSplit(text, "..");
  ValueRange range{.constant = ends.size() == 1};
  if (ends.size() > 2 || !absl::SimpleAtod(ends[0], &range.low) ||
      !absl::SimpleAtod(ends.back(), &range.high) || !std::isfinite(range.low) ||
      !std::isfinite(range.high) || range.low > range.high) {
    return InvalidArgument("--input=fixed: '", text,
                           "' is neither LOW..HIGH nor a number, such as 0..9 or 0.5");
  }
  return range;
}

absl::StatusOr<Array> RandomArray(const TrainGraphInput& wanted, const Shape& shape,
                                  const ValueRange& range, Philox& random) {
  Array array(wanted.dtype, shape);
  std::string problem;
  const bool known = VisitNumeric(wanted.dtype, [&](auto tag) {
    using T = decltype(tag);
    const double span = range.high - range.low;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // 2^53: the ends are doubles.
      const double least = std::max(static_cast<double>(std::numeric_limits<T>::min()), -0x1p53);
      const double most = std::min(static_cast<double>(std::numeric_limits<T>::max()), 0x1p53);
      if (range.low < least || range.high > most || range.low != std::floor(range.low) ||
          range.high != std::floor(range.high)) {
        problem = "are not whole numbers of this type";
        return;
      }
    }
    for (T& value : array.template values<T>()) {
      const Philox::Result bits = random.Next4();
      const double unit = UniformDouble(bits[0], bits[1]);
      if constexpr (std::is_same_v<T, bool>) {
        value = range.constant ? range.low != 0 : unit < 0.5;
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(std::min(range.high, range.low + std::floor(unit * (span + 1))));
      } else {
        value = static_cast<T>(static_cast<float>(range.low + unit * span));
      }
    }
  });
  if (!known) problem = "cannot be drawn for strings; give files or a program of your own";
  if (!problem.empty()) {
    return InvalidArgument("--input=fixed: the values ", range.low, "..", range.high, " for ",
                           wanted.name, ", ", DTypeName(wanted.dtype), ", ", problem);
  }
  return array;
}

}  // namespace estimator
