#include "estimator/image/random/random_color.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/image/color.h"

namespace estimator::image {
namespace {

// One number in [low, high).
absl::StatusOr<float> Draw(const Seed& seed, float low, float high) {
  EST_ASSIGN_OR_RETURN(const Array number, StatelessRandomUniform({}, seed, low, high));
  return number.scalar<float>();
}

absl::Status CheckRange(absl::string_view function, float lower, float upper) {
  if (lower >= 0 && upper > lower) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(function, ": need upper > lower >= 0, got lower=", lower, " and upper=", upper));
}

}  // namespace

absl::StatusOr<Array> StatelessRandomBrightness(const Array& image, float max_delta,
                                                const Seed& seed) {
  if (!(max_delta >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("StatelessRandomBrightness: max_delta must be non-negative, got ", max_delta));
  }
  EST_ASSIGN_OR_RETURN(const float delta, Draw(seed, -max_delta, max_delta));
  return AdjustBrightness(image, delta);
}

absl::StatusOr<Array> StatelessRandomContrast(const Array& image, float lower, float upper,
                                              const Seed& seed) {
  EST_RETURN_IF_ERROR(CheckRange("StatelessRandomContrast", lower, upper));
  EST_ASSIGN_OR_RETURN(const float factor, Draw(seed, lower, upper));
  return AdjustContrast(image, factor);
}

absl::StatusOr<Array> StatelessRandomSaturation(const Array& image, float lower, float upper,
                                                const Seed& seed) {
  EST_RETURN_IF_ERROR(CheckRange("StatelessRandomSaturation", lower, upper));
  EST_ASSIGN_OR_RETURN(const float factor, Draw(seed, lower, upper));
  return AdjustSaturation(image, factor);
}

absl::StatusOr<Array> StatelessRandomHue(const Array& image, float max_delta, const Seed& seed) {
  if (!(max_delta >= 0 && max_delta <= 0.5f)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "StatelessRandomHue: max_delta must be non-negative and <= 0.5, got ", max_delta));
  }
  EST_ASSIGN_OR_RETURN(const float delta, Draw(seed, -max_delta, max_delta));
  return AdjustHue(image, delta);
}

}  // namespace estimator::image
