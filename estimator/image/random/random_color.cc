#include "estimator/image/random/random_color.h"

#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/image/color.h"

namespace estimator::image {
namespace {

using Adjustment = absl::StatusOr<Array> (*)(const Array& image, float number);

// adjust(image, x) with a number x drawn from [low, high).
absl::StatusOr<Array> AdjustRandomly(const Array& image, const Seed& seed, float low, float high,
                                     Adjustment adjust) {
  EST_ASSIGN_OR_RETURN(const Array number, StatelessRandomUniform({}, seed, low, high));
  return adjust(image, number.scalar<float>());
}

// The same for a factor, whose range is checked.
absl::StatusOr<Array> AdjustByFactor(absl::string_view function, const Array& image,
                                     const Seed& seed, float lower, float upper,
                                     Adjustment adjust) {
  if (lower >= 0 && upper > lower) return AdjustRandomly(image, seed, lower, upper, adjust);
  return InvalidArgument(function, ": need upper > lower >= 0, got lower=", lower,
                         " and upper=", upper);
}

}  // namespace

absl::StatusOr<Array> StatelessRandomBrightness(const Array& image, float max_delta,
                                                const Seed& seed) {
  if (!(max_delta >= 0)) {
    return InvalidArgument("StatelessRandomBrightness: max_delta must be non-negative, got ",
                           max_delta);
  }
  return AdjustRandomly(image, seed, -max_delta, max_delta, AdjustBrightness);
}

absl::StatusOr<Array> StatelessRandomContrast(const Array& image, float lower, float upper,
                                              const Seed& seed) {
  return AdjustByFactor("StatelessRandomContrast", image, seed, lower, upper, AdjustContrast);
}

absl::StatusOr<Array> StatelessRandomSaturation(const Array& image, float lower, float upper,
                                                const Seed& seed) {
  return AdjustByFactor("StatelessRandomSaturation", image, seed, lower, upper, AdjustSaturation);
}

absl::StatusOr<Array> StatelessRandomHue(const Array& image, float max_delta, const Seed& seed) {
  if (!(max_delta >= 0 && max_delta <= 0.5f)) {
    return InvalidArgument("StatelessRandomHue: max_delta must be non-negative and <= 0.5, got ",
                           max_delta);
  }
  return AdjustRandomly(image, seed, -max_delta, max_delta, AdjustHue);
}

}  // namespace estimator::image
