// Random crops and flips. They equal tf.image.stateless_random_* for the same seed.
//
//   dataset.Map([](const Element& element, RandomStream& random) -> absl::StatusOr<Element> {
//     EST_ASSIGN_OR_RETURN(const Array crop, image::StatelessRandomCrop(
//         element.features.at("image"), {24, 24, 3}, random.NextSeed()));
//     EST_ASSIGN_OR_RETURN(const Array flipped,
//                          image::StatelessRandomFlipLeftRight(crop, random.NextSeed()));
//     return Element{.features = {{"image", flipped}}, .labels = element.labels};
//   })
#ifndef ESTIMATOR_IMAGE_RANDOM_RANDOM_GEOMETRY_H_
#define ESTIMATOR_IMAGE_RANDOM_RANDOM_GEOMETRY_H_

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/image/random/stateless_random.h"

namespace estimator::image {

// A part of an array at a random offset.
//   size: one number for each axis of `value`. Give the full size of an axis to keep it whole.
// Errors: INVALID_ARGUMENT if size has another rank, a negative number, or a number that is larger
// than the axis; or if the array holds strings.
// Source: TF 2.15 tf.image.stateless_random_crop.
absl::StatusOr<Array> StatelessRandomCrop(const Array& value, const Shape& size, const Seed& seed);

// Mirrors the columns with probability 1/2. Each image of a batch is flipped, or not, on its own.
// Errors: as FlipLeftRight.
// Source: TF 2.15 tf.image.stateless_random_flip_left_right.
absl::StatusOr<Array> StatelessRandomFlipLeftRight(const Array& image, const Seed& seed);

// The same for the rows.
// Source: TF 2.15 tf.image.stateless_random_flip_up_down.
absl::StatusOr<Array> StatelessRandomFlipUpDown(const Array& image, const Seed& seed);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RANDOM_RANDOM_GEOMETRY_H_
