#include "estimator/image/testing/image_functions.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"

namespace estimator::image::testing {
namespace {

double Get(const Numbers& numbers, const std::string& name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

int GetInt(const Numbers& numbers, const std::string& name, int otherwise) {
  return static_cast<int>(Get(numbers, name, otherwise));
}

bool GetBool(const Numbers& numbers, const std::string& name, bool otherwise) {
  return Get(numbers, name, otherwise ? 1 : 0) != 0;
}

DecodeJpegOptions JpegOptions(const Numbers& numbers) {
  return {.channels = GetInt(numbers, "channels", 0),
          .ratio = GetInt(numbers, "ratio", 1),
          .fancy_upscaling = GetBool(numbers, "fancy_upscaling", true),
          .try_recover_truncated = GetBool(numbers, "try_recover_truncated", false),
          .acceptable_fraction = static_cast<float>(Get(numbers, "acceptable_fraction", 1)),
          .dct_method = GetBool(numbers, "accurate", false) ? DctMethod::kIntegerAccurate
                                                            : DctMethod::kDefault};
}

Box CropWindow(const Numbers& numbers) {
  return {.y = GetInt(numbers, "y", 0),
          .x = GetInt(numbers, "x", 0),
          .height = GetInt(numbers, "height", 0),
          .width = GetInt(numbers, "width", 0)};
}

DType DTypeOfBits(int bits) {
  return bits == 8 ? DType::kUint8 : bits == 16 ? DType::kInt32 : DType::kFloat32;
}

int32_t ChecksumOr(const absl::StatusOr<Array>& image) {
  return image.ok() ? Checksum(*image) : -1;
}

Array EveryPrefix(const std::string& contents, const Numbers& numbers) {
  const size_t first = static_cast<size_t>(GetInt(numbers, "first", 0));
  Array checksums(DType::kInt32, {static_cast<int64_t>(contents.size() - first), 2});
  int32_t* out = checksums.data<int32_t>();
  for (size_t size = first; size < contents.size(); ++size, out += 2) {
    // A copy has no bytes after its end, so that asan finds reads there.
    const std::vector<char> prefix(contents.begin(), contents.begin() + static_cast<int64_t>(size));
    const StringArg bytes(prefix.data(), size);
    out[0] = ChecksumOr(DecodeJpeg(bytes, JpegOptions(numbers)));
    out[1] = ChecksumOr(DecodeAndCropJpeg(bytes, CropWindow(numbers), JpegOptions(numbers)));
  }
  return checksums;
}

}  // namespace

absl::StatusOr<Numbers> ParseNumbers(absl::Span<const std::string> words) {
  Numbers numbers;
  for (const std::string& word : words) {
    const std::vector<std::string> pair = absl::StrSplit(word, '=');
    if (pair.size() != 2 || !absl::SimpleAtod(pair[1], &numbers[pair[0]])) {
      return absl::InvalidArgumentError(absl::StrCat("not NAME=NUMBER: ", word));
    }
  }
  return numbers;
}

absl::StatusOr<Array> Decode(StringArg function, const std::string& contents,
                             const Numbers& numbers) {
  const int channels = GetInt(numbers, "channels", 0);
  const DType dtype = DTypeOfBits(GetInt(numbers, "bits", 8));
  if (function == "decode_jpeg") return DecodeJpeg(contents, JpegOptions(numbers));
  if (function == "decode_and_crop_jpeg") {
    return DecodeAndCropJpeg(contents, CropWindow(numbers), JpegOptions(numbers));
  }
  if (function == "extract_jpeg_shape") {
    EST_ASSIGN_OR_RETURN(const Shape shape, JpegShape(contents));
    return Array::FromSpan<int64_t>({3}, {shape.dim(0), shape.dim(1), shape.dim(2)})
        .Cast(DType::kInt32);
  }
  if (function == "decode_png") return DecodePng(contents, {.channels = channels, .dtype = dtype});
  if (function == "decode_image") {
    return DecodeImage(contents, {.channels = channels, .dtype = dtype});
  }
  if (function == "every_prefix") return EveryPrefix(contents, numbers);
  return absl::UnimplementedError(absl::StrCat("unknown function ", function));
}

absl::StatusOr<std::string> Encode(StringArg function, const Array& image, const Numbers& numbers) {
  if (function == "encode_png") {
    return EncodePng(image, {.compression = GetInt(numbers, "compression", -1)});
  }
  if (function == "encode_jpeg") {
    return EncodeJpeg(image,
                      {.quality = GetInt(numbers, "quality", 95),
                       .progressive = GetBool(numbers, "progressive", false),
                       .optimize_size = GetBool(numbers, "optimize_size", false),
                       .chroma_downsampling = GetBool(numbers, "chroma_downsampling", true)});
  }
  return absl::UnimplementedError(absl::StrCat("unknown function ", function));
}

int32_t Checksum(const Array& array) {
  return static_cast<int32_t>(Crc32c(array.raw(), array.num_bytes()) & 0x7fffffff);
}

}  // namespace estimator::image::testing
