// Labelled images of one size from TFRecord files, divided into training and validation by file, as
// the Keras programs for TPUs read them; or pictures that are drawn.
#ifndef MODELS_IMAGENET_LABELLED_IMAGES_H_
#define MODELS_IMAGENET_LABELLED_IMAGES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator::imagenet {

struct LabelledImagesOptions {
  std::string data_dir = "";  // folder of *.tfrec files; empty: pictures are drawn
  int64_t image_size = 224;
  int64_t classes = 5;             // drawn: divides kNumDrawnClasses
  double validation_split = 0.19;  // of the files: the last ones
  // The features of an Example: a JPEG, PNG or BMP file, and an i64 in [0, classes).
  std::string image_key = "image";
  std::string label_key = "class";
  int64_t num_drawn = 480;  // for training; a quarter as many for the validation
};

struct LabelledImages {
  Dataset records;  // Examples, once and in order
  MapFunction decode;
  int64_t count = 0;  // by the names of the files, such as flowers00-230.tfrec; 0: not known

  // The images of some of `records`: u8 [image_size, image_size, 3], with labels i32 []. Shuffle
  // and Shard the records, so that a process decodes its own ones only.
  Dataset Decoded(const Dataset& some) const {
    return some.Map(decode, {.num_parallel_calls = kAutotune});
  }
  // Whole batches of a pass; nullopt if the count is not known.
  // Errors: INVALID_ARGUMENT if there are fewer images than a batch.
  absl::StatusOr<std::optional<int64_t>> StepsPerEpoch(int64_t batch_size) const;
};

// Errors: NOT_FOUND if there are no files; INVALID_ARGUMENT if there are too few for the split. Of
// the iterator: those of the records; INVALID_ARGUMENT naming the feature for an image that cannot
// be decoded, or a label that is out of range.
absl::StatusOr<LabelledImages> LoadLabelledImages(const LabelledImagesOptions& options,
                                                  bool training);

// For training: mirrors the image in half of the cases, and multiplies its saturation by a number
// in [0, 2).
absl::StatusOr<Element> AugmentImage(const Element& element, RandomStream& random);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_LABELLED_IMAGES_H_
