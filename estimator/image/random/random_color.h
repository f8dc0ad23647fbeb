// Random changes of color. They draw the factor of tf.image.stateless_random_* for the same seed
// and call the functions of color.h. Every image of a batch gets the same change.
#ifndef ESTIMATOR_IMAGE_RANDOM_RANDOM_COLOR_H_
#define ESTIMATOR_IMAGE_RANDOM_RANDOM_COLOR_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/image/random/stateless_random.h"

namespace estimator::image {

// AdjustBrightness with a delta in [-max_delta, max_delta).
// Errors: those of AdjustBrightness; INVALID_ARGUMENT if max_delta is negative.
// Source: TF 2.15 tf.image.stateless_random_brightness.
absl::StatusOr<Array> StatelessRandomBrightness(const Array& image, float max_delta,
                                                const Seed& seed);

// AdjustContrast with a factor in [lower, upper).
// Errors: those of AdjustContrast; INVALID_ARGUMENT if upper <= lower or lower < 0.
// Source: TF 2.15 tf.image.stateless_random_contrast.
absl::StatusOr<Array> StatelessRandomContrast(const Array& image, float lower, float upper,
                                              const Seed& seed);

// AdjustSaturation with a factor in [lower, upper).
// Errors: those of AdjustSaturation; INVALID_ARGUMENT if upper <= lower or lower < 0.
// Source: TF 2.15 tf.image.stateless_random_saturation.
absl::StatusOr<Array> StatelessRandomSaturation(const Array& image, float lower, float upper,
                                                const Seed& seed);

// AdjustHue with a delta in [-max_delta, max_delta).
// Errors: those of AdjustHue; INVALID_ARGUMENT if max_delta is not in [0, 0.5].
// Source: TF 2.15 tf.image.stateless_random_hue.
absl::StatusOr<Array> StatelessRandomHue(const Array& image, float max_delta, const Seed& seed);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RANDOM_RANDOM_COLOR_H_
