#include "estimator/image/testing/op_functions.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/image/color.h"
#include "estimator/image/resize/crop_and_resize.h"
#include "estimator/image/resize/resize.h"

namespace estimator::image::testing {
namespace {

// The arguments of all functions, parsed. A function uses those that it has.
struct Parsed {
  ImageSize size;
  ResizeMethod method = ResizeMethod::kBilinear;
  DType dtype = DType::kInvalid;
  std::map<std::string, float> numbers;

  float Number(const std::string& name) const {
    const auto it = numbers.find(name);
    return it == numbers.end() ? 0 : it->second;
  }
  bool Flag(const std::string& name) const { return Number(name) != 0; }
  ResizeOptions Options() const {
    return {.method = method,
            .antialias = Flag("antialias"),
            .preserve_aspect_ratio = Flag("preserve_aspect_ratio")};
  }
  LegacyResizeOptions Legacy() const {
    return {.align_corners = Flag("align_corners"),
            .half_pixel_centers = Flag("half_pixel_centers")};
  }
};

const std::map<std::string, ResizeMethod>& Methods() {
  static const auto* const kMethods =
      new std::map<std::string, ResizeMethod>({{"bilinear", ResizeMethod::kBilinear},
                                               {"nearest", ResizeMethod::kNearestNeighbor},
                                               {"bicubic", ResizeMethod::kBicubic},
                                               {"area", ResizeMethod::kArea},
                                               {"lanczos3", ResizeMethod::kLanczos3},
                                               {"lanczos5", ResizeMethod::kLanczos5},
                                               {"gaussian", ResizeMethod::kGaussian},
                                               {"mitchellcubic", ResizeMethod::kMitchellCubic}});
  return *kMethods;
}

absl::StatusOr<Parsed> Parse(const OpArguments& arguments) {
  Parsed parsed;
  for (const auto& [name, text] : arguments) {
    bool ok = true;
    if (name == "size") {
      const std::vector<std::string> sizes = absl::StrSplit(text, ',');
      ok = sizes.size() == 2 && absl::SimpleAtoi(sizes[0], &parsed.size.height) &&
           absl::SimpleAtoi(sizes[1], &parsed.size.width);
    } else if (name == "method") {
      const auto it = Methods().find(text);
      ok = it != Methods().end();
      if (ok) parsed.method = it->second;
    } else if (name == "dtype") {
      EST_ASSIGN_OR_RETURN(parsed.dtype, DTypeFromName(text));
    } else {
      ok = absl::SimpleAtof(text, &parsed.numbers[name]);
    }
    if (!ok) return absl::InvalidArgumentError(absl::StrCat("cannot parse ", name, "=", text));
  }
  return parsed;
}

using Function = absl::StatusOr<Array> (*)(const std::vector<Array>& in, const Parsed& args);

const std::map<std::string, Function>& Functions() {
  static const auto* const
      kFunctions =
          new std::map<std::string, Function>({{"Resize",
                                                [](const auto& in, const auto& args) {
                                                  return Resize(in[0], args.size, args.Options());
                                                }},
                                               {"ResizeToUint8",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeToUint8(in[0], args.size,
                                                                       args.Options());
                                                }},
                                               {"ResizeWithPad",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeWithPad(in[0], args.size,
                                                                       {.method = args.method});
                                                }},
                                               {"ResizeBilinear",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeBilinear(in[0], args.size,
                                                                        args.Legacy());
                                                }},
                                               {"ResizeBicubic",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeBicubic(in[0], args.size,
                                                                       args.Legacy());
                                                }},
                                               {"ResizeNearestNeighbor",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeNearestNeighbor(in[0], args.size,
                                                                               args.Legacy());
                                                }},
                                               {"ResizeArea",
                                                [](const auto& in, const auto& args) {
                                                  return ResizeArea(in[0], args.size,
                                                                    {.align_corners = args.Flag(
                                                                         "align_corners")});
                                                }},
                                               {"CropAndResize",
                                                [](const auto& in, const auto& args) {
                                                  return CropAndResize(
                                                      in[0], in[1], in[2], args.size,
                                                      {.method = args.method,
                                                       .extrapolation_value =
                                                           args.Number("extrapolation_value")});
                                                }},
                                               {"AdjustBrightness",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustBrightness(in[0],
                                                                          args.Number("delta"));
                                                }},
                                               {"AdjustContrast",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustContrast(
                                                      in[0], args.Number("contrast_factor"));
                                                }},
                                               {"AdjustSaturation",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustSaturation(
                                                      in[0], args.Number("saturation_factor"));
                                                }},
                                               {"AdjustHue",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustHue(in[0], args.Number("delta"));
                                                }},
                                               {"AdjustGamma",
                                                [](const auto& in, const auto& args) {
                                                  return AdjustGamma(in[0],
                                                                     {.gamma = args.Number("gamma"),
                                                                      .gain = args.Number("gain")});
                                                }},
                                               {"RgbToGrayscale",
                                                [](const auto& in,
                                                   const auto&) { return RgbToGrayscale(in[0]); }},
                                               {"GrayscaleToRgb",
                                                [](const auto& in,
                                                   const auto&) { return GrayscaleToRgb(in[0]); }},
                                               {"RgbToHsv",
                                                [](const auto& in,
                                                   const auto&) { return RgbToHsv(in[0]); }},
                                               {"HsvToRgb",
                                                [](const auto& in,
                                                   const auto&) { return HsvToRgb(in[0]); }},
                                               {"PerImageStandardization",
                                                [](const auto& in, const auto&) {
                                                  return PerImageStandardization(in[0]);
                                                }},
                                               {"ConvertImageDtype",
                                                [](const auto& in, const auto& args) {
                                                  return ConvertImageDtype(
                                                      in[0], args.dtype,
                                                      {.saturate = args.Flag("saturate")});
                                                }}});
  return *kFunctions;
}

}  // namespace

std::vector<std::string> OpNames() {
  std::vector<std::string> names;
  for (const auto& [name, function] : Functions()) names.push_back(name);
  return names;
}

absl::StatusOr<Array> CallOp(StringArg function, const std::vector<Array>& in,
                             const OpArguments& arguments) {
  const std::string name(function);
  const auto it = Functions().find(name);
  if (it == Functions().end())
    return absl::UnimplementedError(absl::StrCat("no function is called ", name));
  const size_t num_arrays = name == "CropAndResize" ? 3 : 1;
  if (in.size() != num_arrays) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " takes ", num_arrays, " arrays, got ", in.size()));
  }
  EST_ASSIGN_OR_RETURN(const Parsed parsed, Parse(arguments));
  return it->second(in, parsed);
}

}  // namespace estimator::image::testing
