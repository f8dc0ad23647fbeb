// Calls functions of estimator/image by name, for files that list calls:
// testdata/images/goldens.txt and the jobs of tools/interop/image_tool.
#ifndef ESTIMATOR_IMAGE_TESTING_IMAGE_FUNCTIONS_H_
#define ESTIMATOR_IMAGE_TESTING_IMAGE_FUNCTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image::testing {

// The options of a call, by name.
using Numbers = std::map<std::string, double>;

// Parses words "NAME=NUMBER".
absl::StatusOr<Numbers> ParseNumbers(absl::Span<const std::string> words);

// Calls a function that decodes the contents of a file.
//
//   decode_jpeg           [channels=0] [ratio=1] [fancy_upscaling=1] [try_recover_truncated=0]
//                         [acceptable_fraction=1] [accurate=0]
//   decode_and_crop_jpeg  y= x= height= width= and the options of decode_jpeg
//   extract_jpeg_shape    (i32 [3])
//   decode_png            [channels=0] [bits=8]      (bits=16: i32; bits=32: float32)
//   decode_image          [channels=0] [bits=8]
//   every_prefix          [first=0] and the options of decode_and_crop_jpeg: for each length of the
//                         file cut off, from `first` bytes, the checksums of decode_jpeg and of
//                         decode_and_crop_jpeg, or -1 for an error (i32 [lengths, 2])
//
// Errors: UNIMPLEMENTED for another name; the errors of the function.
absl::StatusOr<Array> Decode(StringArg function, const std::string& contents,
                             const Numbers& numbers);

// Calls a function that encodes an image.
//
//   encode_jpeg  [quality=95] [progressive=0] [optimize_size=0] [chroma_downsampling=1]
//   encode_png   [compression=-1]
absl::StatusOr<std::string> Encode(StringArg function, const Array& image, const Numbers& numbers);

// The lower 31 bits of the crc32c of the array's bytes.
int32_t Checksum(const Array& array);

}  // namespace estimator::image::testing

#endif  // ESTIMATOR_IMAGE_TESTING_IMAGE_FUNCTIONS_H_
