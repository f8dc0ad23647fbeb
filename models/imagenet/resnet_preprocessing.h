// The preprocessing of images of TensorFlow's official TPU ResNet, on encoded images.
#ifndef MODELS_IMAGENET_RESNET_PREPROCESSING_H_
#define MODELS_IMAGENET_RESNET_PREPROCESSING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/random_stream.h"

namespace estimator::imagenet {

// Both functions take JPEG, PNG and BMP, and return f32 [image_size, image_size, 3], 0 to 255, or a
// little outside, because bicubic resizing overshoots at edges. The model normalizes the image. Of
// a JPEG only the window is decoded.
// Errors: INVALID_ARGUMENT if the image is damaged or of another format, or if image_size < 1.

// For training: a random window of 8% to 100% of the area, with width / height of 3/4 to 4/3. If
// ten windows do not fit into the image, it is the window of PreprocessForEval. The window is
// resized (bicubic), and mirrored in half of the cases.
//   random: of the element, so that every epoch draws other windows and a resumed run the same.
// Source: tensorflow/tpu models/official/resnet resnet_preprocessing.preprocess_for_train.
absl::StatusOr<Array> PreprocessForTrain(StringArg image_bytes, int64_t image_size,
                                         RandomStream& random);

// For evaluation: the square at the center of the image whose side is image_size / (image_size +
// 32) of the shorter side, resized (bicubic). For 224 pixels that is 0.875.
// Source: tensorflow/tpu models/official/resnet resnet_preprocessing.preprocess_for_eval.
absl::StatusOr<Array> PreprocessForEval(StringArg image_bytes, int64_t image_size);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_RESNET_PREPROCESSING_H_
