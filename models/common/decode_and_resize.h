// Makes the images of an input: decoded, and of one size.
#ifndef MODELS_COMMON_DECODE_AND_RESIZE_H_
#define MODELS_COMMON_DECODE_AND_RESIZE_H_

#include <string>
#include <vector>

#include "estimator/estimator.h"

namespace estimator {

// The data set with the feature `image` as u8 [size.height, size.width, 3], and the features of
// `kept`, in all threads of the CPU. The labels stay as they are.
//   dataset: of examples with the feature `image`: the bytes of a JPEG, PNG or BMP file (string
//     []), or u8 pixels [H, W, 3].
//   DecodeAndResize(TFRecordDataset(files).Map(ParseExample(specs, labels)), {224, 224})
// Errors (of the iterator): NOT_FOUND naming the features if one is missing; those of
// image::DecodeImage and image::ResizeToUint8.
Dataset DecodeAndResize(const Dataset& dataset, image::ImageSize size,
                        std::vector<std::string> kept = {});

}  // namespace estimator

#endif  // MODELS_COMMON_DECODE_AND_RESIZE_H_
