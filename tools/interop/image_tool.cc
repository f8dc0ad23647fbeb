// Runs functions of estimator/image on files, for the check against TensorFlow
// (testdata/interop/check_images.py).
//
//   image_tool JOBS
//
// JOBS is a text file. Each line is a job: a function of estimator/image/testing/image_functions.h,
// its input file, its output file, and its options as NAME=NUMBER. Functions that encode read an
// array from a .npy file. Functions that decode write one; if they fail, OUTPUT.error has the
// message.
//
//   decode_jpeg picture.jpg pixels.npy channels=3 ratio=2
//   encode_png pixels.npy picture.png
//
// A function that begins with a capital is one of estimator/image/testing/op_functions.h, from .npy
// to .npy:
//
//   Resize pixels.npy small.npy size=224,224 method=bicubic
//
// Exit code 1 if a job cannot be run.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/image/testing/image_functions.h"
#include "estimator/image/testing/op_functions.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

absl::Status RunOp(const std::vector<std::string>& words) {
  image::testing::OpArguments arguments;
  for (size_t i = 3; i < words.size(); ++i) {
    arguments.insert(absl::StrSplit(words[i], absl::MaxSplits('=', 1)));
  }
  EST_ASSIGN_OR_RETURN(const Array image, LoadNpy(words[1]));
  EST_ASSIGN_OR_RETURN(const Array result, image::testing::CallOp(words[0], {image}, arguments));
  return SaveNpy(words[2], result);
}

absl::Status RunJob(absl::string_view line) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (words.empty()) return absl::OkStatus();
  if (words.size() < 3) return InvalidArgument("a job needs a function and two files");
  if (absl::ascii_isupper(static_cast<unsigned char>(words[0][0]))) return RunOp(words);
  EST_ASSIGN_OR_RETURN(const image::testing::Numbers numbers,
                       image::testing::ParseNumbers(absl::MakeSpan(words).subspan(3)));
  const std::string& function = words[0];
  const std::string& output = words[2];
  if (absl::StartsWith(function, "encode_")) {
    EST_ASSIGN_OR_RETURN(const Array image, LoadNpy(words[1]));
    EST_ASSIGN_OR_RETURN(const std::string bytes, image::testing::Encode(function, image, numbers));
    return WriteFileAtomically(output, bytes);
  }
  EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(words[1]));
  const absl::StatusOr<Array> image = image::testing::Decode(function, contents, numbers);
  if (absl::IsUnimplemented(image.status())) return image.status();
  if (!image.ok()) {
    return WriteFileAtomically(absl::StrCat(output, ".error"), image.status().ToString());
  }
  return SaveNpy(output, *image);
}

absl::Status Run(const std::vector<std::string>& arguments) {
  EST_ASSIGN_OR_RETURN(const std::string jobs, ReadFile(arguments[0]));
  for (const absl::string_view line : absl::StrSplit(jobs, '\n')) {
    EST_RETURN_IF_ERROR(Annotate(RunJob(line), line));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "image_tool JOBS", estimator::Run);
}
