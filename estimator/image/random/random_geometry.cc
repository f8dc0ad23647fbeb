#include "estimator/image/random/random_geometry.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/image/geometry.h"
#include "estimator/image/image_shape.h"

namespace estimator::image {
namespace {

using Flip = absl::StatusOr<Array> (*)(const Array&);

// TensorFlow flips a single image for numbers below 1/2, and an image of a batch for numbers above.
absl::StatusOr<Array> RandomFlip(absl::string_view function, const Array& image, const Seed& seed,
                                 Flip flip) {
  EST_RETURN_IF_ERROR(CheckHasPixels(function, image));
  if (image.shape().rank() == 3) {
    EST_ASSIGN_OR_RETURN(const Array number, StatelessRandomUniform({}, seed));
    return number.scalar<float>() < 0.5f ? flip(image) : image;
  }
  const int64_t batch_size = image.shape().dim(0);
  if (batch_size == 0) return image;
  EST_ASSIGN_OR_RETURN(const Array numbers, StatelessRandomUniform({batch_size}, seed));
  std::vector<Array> images;
  for (int64_t i = 0; i < batch_size; ++i) {
    images.push_back(image.Row(i));
    if (numbers.data<float>()[i] > 0.5f) {
      EST_ASSIGN_OR_RETURN(images.back(), flip(images.back()));
    }
  }
  return Stack(images);
}

}  // namespace

absl::StatusOr<Array> StatelessRandomCrop(const Array& value, const Shape& size, const Seed& seed) {
  const Shape& shape = value.shape();
  bool fits = size.rank() == shape.rank();
  for (int i = 0; fits && i < size.rank(); ++i) {
    fits = size.dim(i) >= 0 && size.dim(i) <= shape.dim(i);
  }
  if (!fits) {
    return InvalidArgument(
        "StatelessRandomCrop: need value.shape >= size >= 0 for each axis, got a value of ",
        shape.ToString(), " and size=", size.ToString(),
        "; pad or resize the value first, or give a smaller size");
  }
  EST_ASSIGN_OR_RETURN(
      const Array numbers,
      StatelessRandomUniformInt({size.rank()}, seed, 0, std::numeric_limits<int32_t>::max()));
  std::vector<int64_t> begin;
  for (int i = 0; i < size.rank(); ++i) {
    begin.push_back(numbers.data<int32_t>()[i] % (shape.dim(i) - size.dim(i) + 1));
  }
  return Slice(value, begin, size.dims());
}

absl::StatusOr<Array> StatelessRandomFlipLeftRight(const Array& image, const Seed& seed) {
  return RandomFlip("StatelessRandomFlipLeftRight", image, seed, FlipLeftRight);
}

absl::StatusOr<Array> StatelessRandomFlipUpDown(const Array& image, const Seed& seed) {
  return RandomFlip("StatelessRandomFlipUpDown", image, seed, FlipUpDown);
}

}  // namespace estimator::image
