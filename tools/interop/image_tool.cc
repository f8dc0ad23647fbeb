// Runs functions of estimator/image on files, for the check against TensorFlow
// (testdata/interop/check_images.py).
//
//   image_tool JOBS
//
// JOBS is a text file. Each line is a job: a function, its input file, its output file, and options
// as NAME=NUMBER, in any order.
//
//   decode_jpeg           IN.jpg OUT.npy [channels=0] [ratio=1] [fancy_upscaling=1]
//                         [try_recover_truncated=0] [acceptable_fraction=1] [accurate=0]
//   decode_and_crop_jpeg  IN.jpg OUT.npy y= x= height= width= and the options of decode_jpeg
//   decode_png            IN.png OUT.npy [channels=0] [bits=8]
//   decode_image          IN     OUT.npy [channels=0] [bits=8]      (bits=32: float32)
//   encode_jpeg           IN.npy OUT.jpg [quality=95] [progressive=0] [optimize_size=0]
//                         [chroma_downsampling=1]
//   encode_png            IN.npy OUT.png [compression=-1]
//   every_prefix          IN.jpg OUT.npy y= x= height= width= and the options of decode_jpeg
//                         (i32 [bytes of IN, 2]: for each length of a truncated file the crc32c of
//                         decode_jpeg and that of decode_and_crop_jpeg, or -1 for an error)
//   Resize, AdjustHue ... IN.npy OUT.npy and arguments as estimator/image/testing/op_functions.h has them
//
// Exit code 1 if a job fails, except that of a failed decoding OUT.error holds the message.
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/array/npy.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/jpeg.h"
#include "estimator/image/png.h"
#include "estimator/image/testing/op_functions.h"

namespace estimator {
namespace {

using Numbers = std::map<std::string, double>;

double Get(const Numbers& numbers, const std::string& name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

int GetInt(const Numbers& numbers, const std::string& name, int otherwise) {
  return static_cast<int>(Get(numbers, name, otherwise));
}

image::DecodeJpegOptions JpegOptions(const Numbers& numbers) {
  return {.channels = GetInt(numbers, "channels", 0),
          .ratio = GetInt(numbers, "ratio", 1),
          .fancy_upscaling = Get(numbers, "fancy_upscaling", 1) != 0,
          .try_recover_truncated = Get(numbers, "try_recover_truncated", 0) != 0,
          .acceptable_fraction = static_cast<float>(Get(numbers, "acceptable_fraction", 1)),
          .dct_method = Get(numbers, "accurate", 0) != 0 ? image::DctMethod::kIntegerAccurate
                                                         : image::DctMethod::kDefault};
}

image::Box CropWindow(const Numbers& numbers) {
  return {.y = GetInt(numbers, "y", 0),
          .x = GetInt(numbers, "x", 0),
          .height = GetInt(numbers, "height", 0),
          .width = GetInt(numbers, "width", 0)};
}

int32_t Checksum(const absl::StatusOr<Array>& image) {
  if (!image.ok()) return -1;
  const uint32_t crc = Crc32c(image->raw(), image->num_bytes());
  return static_cast<int32_t>(crc & 0x7fffffff);
}

Array EveryPrefix(const std::string& contents, const Numbers& numbers) {
  Array checksums(DType::kInt32, {static_cast<int64_t>(contents.size()), 2});
  for (size_t size = 0; size < contents.size(); ++size) {
    const std::string prefix = contents.substr(0, size);  // its own memory, for asan
    checksums.data<int32_t>()[2 * size] = Checksum(image::DecodeJpeg(prefix, JpegOptions(numbers)));
    checksums.data<int32_t>()[2 * size + 1] =
        Checksum(image::DecodeAndCropJpeg(prefix, CropWindow(numbers), JpegOptions(numbers)));
  }
  return checksums;
}

absl::StatusOr<Array> Decode(const std::string& function, const std::string& contents,
                             const Numbers& numbers) {
  const int bits = GetInt(numbers, "bits", 8);
  const DType dtype = bits == 8 ? DType::kUint8 : bits == 16 ? DType::kInt32 : DType::kFloat32;
  if (function == "decode_jpeg") return image::DecodeJpeg(contents, JpegOptions(numbers));
  if (function == "decode_and_crop_jpeg") {
    return image::DecodeAndCropJpeg(contents, CropWindow(numbers), JpegOptions(numbers));
  }
  if (function == "decode_png") {
    return image::DecodePng(contents, {.channels = GetInt(numbers, "channels", 0), .dtype = dtype});
  }
  if (function == "decode_image") {
    return image::DecodeImage(contents,
                              {.channels = GetInt(numbers, "channels", 0), .dtype = dtype});
  }
  if (function == "every_prefix") return EveryPrefix(contents, numbers);
  return absl::UnimplementedError(absl::StrCat("unknown function ", function));
}

absl::StatusOr<std::string> Encode(const std::string& function, const Array& image,
                                   const Numbers& numbers) {
  if (function == "encode_png") {
    return image::EncodePng(image, {.compression = GetInt(numbers, "compression", -1)});
  }
  return image::EncodeJpeg(image,
                           {.quality = GetInt(numbers, "quality", 95),
                            .progressive = Get(numbers, "progressive", 0) != 0,
                            .optimize_size = Get(numbers, "optimize_size", 0) != 0,
                            .chroma_downsampling = Get(numbers, "chroma_downsampling", 1) != 0});
}

// A function of sizes or colors: "Resize in.npy out.npy size=3,4 method=area".
absl::Status RunOp(const std::vector<std::string>& words) {
  image::testing::OpArguments arguments;
  for (size_t i = 3; i < words.size(); ++i) {
    arguments.insert(absl::StrSplit(words[i], absl::MaxSplits('=', 1)));
  }
  EST_ASSIGN_OR_RETURN(const Array image, LoadNpy(words[1]));
  EST_ASSIGN_OR_RETURN(const Array result, image::testing::CallOp(words[0], {image}, arguments));
  return SaveNpy(words[2], result);
}

absl::Status RunJob(const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.empty()) return absl::OkStatus();
  if (words.size() < 3) return absl::InvalidArgumentError("a job needs a function and two files");
  if (absl::ascii_isupper(static_cast<unsigned char>(words[0][0]))) return RunOp(words);
  Numbers numbers;
  for (size_t i = 3; i < words.size(); ++i) {
    const std::vector<std::string> pair = absl::StrSplit(words[i], '=');
    double value = 0;
    if (pair.size() != 2 || !absl::SimpleAtod(pair[1], &value)) {
      return absl::InvalidArgumentError(absl::StrCat("not NAME=NUMBER: ", words[i]));
    }
    numbers[pair[0]] = value;
  }
  const std::string& function = words[0];
  if (function == "encode_jpeg" || function == "encode_png") {
    EST_ASSIGN_OR_RETURN(const Array image, LoadNpy(words[1]));
    EST_ASSIGN_OR_RETURN(const std::string bytes, Encode(function, image, numbers));
    return WriteFileAtomically(words[2], bytes);
  }
  EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(words[1]));
  const absl::StatusOr<Array> image = Decode(function, contents, numbers);
  if (absl::IsUnimplemented(image.status())) return image.status();
  if (!image.ok()) {
    return WriteFileAtomically(absl::StrCat(words[2], ".error"), image.status().ToString());
  }
  return SaveNpy(words[2], *image);
}

absl::Status RunJobs(const std::string& path) {
  EST_ASSIGN_OR_RETURN(const std::string jobs, ReadFile(path));
  for (const absl::string_view line : absl::StrSplit(jobs, '\n')) {
    EST_RETURN_IF_ERROR(Annotate(RunJob(std::string(line)), line));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: image_tool JOBS\n";
    return 1;
  }
  const absl::Status status = estimator::RunJobs(argv[1]);
  if (!status.ok()) std::cerr << "image_tool: " << status << '\n';
  return status.ok() ? 0 : 1;
}
