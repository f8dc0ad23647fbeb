// Draws labelled pictures: a data set that needs no download, in the form of ImageNet's records.
//
// A picture shows one figure on a background. The class decides three things:
//   1. The outline of the figure, such as a disc or a star, of random place, size and rotation.
//   2. Its texture, such as stripes, with a random period.
//   3. The hues of its two colors and of the background, with random shades of them.
// Noise is added, and the picture is encoded as JPEG. Each of the three tells the class, because a
// random window of training may show only a part: of the outline nothing, of the texture one
// period.
#ifndef MODELS_IMAGENET_DRAWN_PICTURES_H_
#define MODELS_IMAGENET_DRAWN_PICTURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator::imagenet {

inline constexpr int64_t kNumDrawnClasses = 10;

// The names of the textures: "plain", "striped", "checkered", ...
// REQUIRES: label in [0, kNumDrawnClasses).
absl::string_view DrawnClassName(int64_t label);

struct DrawnPicture {
  Array pixels;       // u8 [H, W, 3]; each side has 72 to 128 pixels
  int64_t label = 0;  // in [0, kNumDrawnClasses): index modulo the number of classes
};
// Draws picture `index` of the infinite set `seed`. The result depends on (seed, index) only.
DrawnPicture DrawPicture(uint64_t seed, uint64_t index);

// The same as a serialized Example, with the features that TensorFlow's converter of ImageNet
// writes: image/encoded (JPEG), image/format, image/height, image/width, image/colorspace,
// image/channels, image/class/label (the label + 1), image/class/text and image/filename.
absl::StatusOr<std::string> DrawnExample(uint64_t seed, uint64_t index);

// The Examples of pictures [begin, begin + count), as string scalars. The dataset is indexed. Use
// disjoint ranges for a training set and a test set.
Dataset DrawnExamples(uint64_t seed, uint64_t begin, int64_t count);

// Pictures [begin, end) with several labels, without JPEG: the features `image`, which is
// DrawnPicture::pixels, and `image_name`, such as "Drawn_7". Label k, i64 [] under its name, is bit
// k of DrawnPicture::label.
Dataset DrawnMultiLabelExamples(uint64_t seed, int64_t begin, int64_t end,
                                std::vector<std::string> label_names);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_DRAWN_PICTURES_H_
